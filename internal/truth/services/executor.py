"""A threaded Python service that makes its calls on a ThreadPoolExecutor.

GET /work?cpu=US&calls=N&delay=US computes, asks the upstream N times at once on the
executor (which answers after delay), waits for all, and answers. One JSON line per
request goes to $LOG.
"""

import concurrent.futures
import http.client
import http.server
import json
import os
import threading
import time
import urllib.parse

UPSTREAM = os.environ["UPSTREAM"]
LOG = open(os.environ["LOG"], "a", buffering=1)
CALLS = concurrent.futures.ThreadPoolExecutor(int(os.environ.get("POOL", "8")))
LOCAL = threading.local()


def compute(us):
    until = time.thread_time_ns() + us * 1000
    while time.thread_time_ns() < until:
        pass


def ask(request_id, delay):
    if not hasattr(LOCAL, "conn"):
        LOCAL.conn = http.client.HTTPConnection(UPSTREAM)
    LOCAL.conn.request("GET", f"/answer?delay={delay}", headers={"X-Request-Id": request_id})
    LOCAL.conn.getresponse().read()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one write per answer
    ordinal = 0

    def do_GET(self):
        start = time.monotonic_ns()
        query = urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query)
        plan = {name: int(value) for name, value in query if value.isdigit()}
        request_id = self.headers.get("X-Request-Id", "-1")
        compute(plan.get("cpu", 0))
        computed = time.monotonic_ns()
        asked = [CALLS.submit(ask, request_id, plan.get("delay", 0)) for _ in range(plan.get("calls", 0))]
        for one in asked:
            one.result()
        waited = time.monotonic_ns()
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")
        work = {
            "id": int(request_id), "port": self.client_address[1], "ordinal": self.ordinal,
            "start": start, "end": time.monotonic_ns(), "computed": plan.get("cpu", 0) * 1000, "waited": waited - computed,
        }
        LOG.write(json.dumps(work) + "\n")
        self.ordinal += 1

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


server = Server(("127.0.0.1", int(os.environ["PORT"])), Handler)
print("ready", flush=True)
server.serve_forever()
