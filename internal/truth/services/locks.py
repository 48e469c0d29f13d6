"""A threaded Python service whose threads wait for each other in one known way, PROBLEM,
or no longer, with FIXED=1. GET /work?cpu=US&calls=N&delay=US.

One JSON line for each time that a lock was taken goes to $LOG: when it was asked for, had
and left, on the kernel's monotonic clock, by which thread. For the interpreter lock the
lines are of the thread that computes, which has it for a burst wherever anybody waits for
it, and of each time that a handler went to sleep while it computed, for it asks for nothing
else: waited is its time asleep, ready its time without a CPU. That a processor was taken
away from the whole machine, or that the handler was preempted, is not in it.
"""

import collections
import ctypes
import hashlib
import http.client
import http.server
import json
import os
import queue
import resource
import signal
import sys
import threading
import time
import urllib.parse

FIXED = os.environ.get("FIXED") == "1"
UPSTREAM = os.environ.get("UPSTREAM", "")
LOG = open(os.environ.get("LOG", "/dev/null"), "a", buffering=1)
LINES = []
LIBC = ctypes.PyDLL(None)


class Tokens:
    """A lock held over a call. Fixed: callers ask side by side."""

    def __init__(self):
        self.lock = threading.Lock()
        self.local = threading.local()

    def serve(self, request):
        if FIXED:
            return self.renew(request)
        request.asks()
        with self.lock:
            request.has()
            self.renew(request)
            request.leaves()
        request.log()

    def renew(self, request):
        conn = getattr(self.local, "conn", None)
        if conn is None:
            conn = self.local.conn = http.client.HTTPConnection(UPSTREAM)
        query(conn, request)


class Ledger:
    """A lock held over computing. Fixed: only what is shared is under it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.total = b""

    def serve(self, request):
        sum = self.checksum(request.cpu) if FIXED else b""
        request.asks()
        with self.lock:
            request.has()
            self.total = sum or self.checksum(request.cpu)
            request.leaves()
        request.log()

    def checksum(self, us):
        """Computes without the interpreter lock, in pieces of some 100 us."""
        until = time.thread_time_ns() + us * 1000
        while time.thread_time_ns() < until:
            sum = hashlib.pbkdf2_hmac("sha256", b"entry", b"ledger", 200)
        return sum


class ConnectionPool:
    """A pool of two connections. Fixed: as many as the load ever needs."""

    def __init__(self):
        self.idle = queue.Queue()
        for _ in range(64 if FIXED else 2):
            self.idle.put(http.client.HTTPConnection(UPSTREAM))

    def borrow(self):
        return self.idle.get()

    def give_back(self, conn):
        self.idle.put(conn)

    def serve(self, request):
        request.asks()
        conn = self.borrow()
        request.has()
        query(conn, request)
        request.leaves()
        self.give_back(conn)
        request.log()


# When; ns on a CPU and ready to run until then; and how often it went to sleep.
Clocks = collections.namedtuple("Clocks", "at ran ready slept")


class Interpreter:
    """A thread computes beside the requests. Fixed: it is a process of its own, nice and with rests."""

    def __init__(self):
        # A request that is to be made to stand back several times, and else need little CPU
        # time, may be kept at it for less than the usual 5 ms.
        sys.setswitchinterval(0.001)
        self.local = threading.local()
        if not FIXED:
            threading.Thread(target=self.summarise, args=[os.getppid()], daemon=True).start()
            return
        parent = os.getpid()
        if os.fork() == 0:
            os.nice(19)
            self.summarise(parent)
            os._exit(0)

    def summarise(self, parent):
        burst = Request(-1, {})
        while os.getppid() == parent:
            burst.asks()
            burst.has()
            while time.monotonic_ns() < burst.had + 200_000_000:
                # Some 10 ms in one call, in which nobody is let in: who asks for the lock sleeps
                # again until it is let go. A loop of bytecode would let go before, and wake nobody.
                sum(range(500_000))
            burst.leaves()
            burst.log()
            time.sleep(0.2 if FIXED else 0.02)

    def serve(self, request):
        """Computes for longer than the others may be kept out, so it is made to stand back."""
        until = time.thread_time_ns() + request.cpu * 1000
        was = self.clocks()
        while was.ran < until:
            now = self.clocks()
            if now.slept > was.slept and now.at - was.at > 500_000:
                request.asked, request.had, request.left = was.at, now.at, now.at
                ready = now.ready - was.ready
                request.log(waited=max(1, now.at - was.at - (now.ran - was.ran) - ready), ready=ready)
            was = now

    def clocks(self):
        """The kernel's clocks of this thread, read without letting the interpreter lock go.

        It may still be taken away between two of them: then they are read again, and what
        that took lies between this answer and the one before.
        """
        fd = getattr(self.local, "fd", None)
        if fd is None:
            fd = self.local.fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
            self.local.text = ctypes.create_string_buffer(64)
        while True:
            at = time.monotonic_ns()
            LIBC.pread(fd, self.local.text, 64, 0)
            ready = int(self.local.text.value.split()[1])
            slept = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
            ran = time.thread_time_ns()
            if time.monotonic_ns() - at < 100_000:
                return Clocks(at, ran, ready, slept)


def query(conn, request):
    conn.request("GET", f"/answer?delay={request.delay}", headers={"X-Request-Id": str(request.id)})
    conn.getresponse().read()


class Request:
    def __init__(self, id, plan):
        self.id, self.cpu, self.delay = id, plan.get("cpu", 0), plan.get("delay", 0)

    def asks(self):
        self.asked = time.monotonic_ns()

    def has(self):
        self.had = time.monotonic_ns()

    def leaves(self):
        self.left = time.monotonic_ns()

    def log(self, waited=0, ready=0):
        """Later, so that it is held no longer than it is said to be."""
        LINES.append({
            "lock": "it", "id": self.id, "thread": threading.get_native_id(), "asked": self.asked,
            "had": self.had, "left": self.left, "waited": waited, "ready": ready,
        })


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one write per answer

    def do_GET(self):
        query = urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query)
        plan = {name: int(value) for name, value in query if value.isdigit()}
        PROBLEM.serve(Request(int(self.headers.get("X-Request-Id", "-1")), plan))
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


def write_log(*_):
    for line in list(LINES):
        LOG.write(json.dumps(line) + "\n")
    os._exit(0)


PROBLEM = {"call": Tokens, "cpu": Ledger, "pool": ConnectionPool, "gil": Interpreter}[os.environ["PROBLEM"]]()
signal.signal(signal.SIGTERM, write_log)
server = Server(("127.0.0.1", int(os.environ["PORT"])), Handler)
print("ready", flush=True)
server.serve_forever()
