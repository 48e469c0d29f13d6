"""A threaded Python service that reports, per request, what its thread really did.

GET /work?sleep=US&cpu=US&calls=N&delay=US sleeps, computes, asks the upstream N times
(which answers after delay), and answers. One JSON line per request goes to $LOG.
UDP_TIMEOUT=US asks over UDP, again each time that nothing came for so long; with LOSE=N the
upstream loses every Nth datagram. KEEP_ALIVE=0 takes a new connection, or socket, for each call.
The numbers are the kernel's own of the thread: ns on a CPU (its CPU clock, which unlike
schedstat's first field is up to date), ns runnable (schedstat).
"""

import http.client
import http.server
import json
import os
import select
import socket
import threading
import time
import urllib.parse

UPSTREAM = os.environ.get("UPSTREAM", "")
KEEP_ALIVE = os.environ.get("KEEP_ALIVE", "1") == "1"
LOG = open(os.environ.get("LOG", "/dev/null"), "a", buffering=1)
UDP_TIMEOUT = int(os.environ.get("UDP_TIMEOUT", "0"))
LOSE = os.environ.get("LOSE", "0")
LOCAL = threading.local()


def clocks():
    """Now, ns this thread ran, ns it was runnable."""
    fd = getattr(LOCAL, "schedstat", None)
    if fd is None:
        fd = LOCAL.schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    waited = int(os.pread(fd, 64, 0).split()[1])
    return time.monotonic_ns(), time.thread_time_ns(), waited


def off(before, after):
    """ns off the CPU and not runnable between two clocks()."""
    wall, ran, waited = (b - a for a, b in zip(before, after))
    return wall - ran - waited


def compute(us):
    until = time.thread_time_ns() + us * 1000
    while time.thread_time_ns() < until:
        pass


def ask(request_id, delay):
    (ask_datagram if UDP_TIMEOUT else ask_http)(request_id, delay)


def ask_datagram(request_id, delay):
    conn = getattr(LOCAL, "conn", None) or socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    name = f"{request_id} {time.monotonic_ns()}"
    host, port = UPSTREAM.split(":")
    poll = select.poll()
    poll.register(conn, select.POLLIN)
    answer = ""
    while answer != name:
        conn.sendto(f"{name} {delay} {LOSE}".encode(), (host, int(port)))
        until = time.monotonic() + UDP_TIMEOUT / 1e6
        while answer != name and poll.poll(max(0, until - time.monotonic()) * 1e3):
            answer = conn.recv(100).decode()  # what was asked before may be answered late
    if KEEP_ALIVE:
        LOCAL.conn = conn
    else:
        conn.close()


def ask_http(request_id, delay):
    conn = getattr(LOCAL, "conn", None)
    if conn is None:
        conn = http.client.HTTPConnection(UPSTREAM)
    conn.request("GET", f"/answer?delay={delay}", headers={"X-Request-Id": request_id})
    conn.getresponse().read()
    if KEEP_ALIVE:
        LOCAL.conn = conn
    else:
        conn.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one write per answer
    ordinal = 0

    def handle_one_request(self):
        begun = clocks()
        self.work = None
        super().handle_one_request()
        if self.work is None:
            return
        done = clocks()
        ran, runnable = done[1] - begun[1], done[2] - begun[2]
        self.work |= {"end": done[0], "ran": ran, "runnable": runnable}
        LOG.write(json.dumps(self.work) + "\n")

    def do_GET(self):
        start = clocks()
        query = urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query)
        plan = {name: int(value) for name, value in query if value.isdigit()}
        request_id = self.headers.get("X-Request-Id", "-1")
        if plan.get("sleep"):
            time.sleep(plan["sleep"] / 1e6)
        slept = clocks()
        compute(plan.get("cpu", 0))
        computed = clocks()
        for _ in range(plan.get("calls", 0)):
            ask(request_id, plan.get("delay", 0))
        waited = clocks()
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")
        self.work = {
            "id": int(request_id), "port": self.client_address[1], "ordinal": self.ordinal,
            "start": start[0], "slept": off(start, slept) if plan.get("sleep") else 0, "computed": computed[1] - slept[1],
            "waited": off(computed, waited) if plan.get("calls") else 0,
        }
        self.ordinal += 1

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


server = Server(("127.0.0.1", int(os.environ["PORT"])), Handler)
print("ready", flush=True)
server.serve_forever()
