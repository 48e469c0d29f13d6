"""The threaded Python service of the fault bench; its environment is documented in internal/truth/cmd/faulty.

The names with thing in them are replaced by others in each run.
"""

import concurrent.futures
import hashlib
import http.client
import http.server
import mmap
import os
import queue
import random
import secrets
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

ENV = os.environ
FIXED = ENV.get("FIXED") == "1"
COST, MANY, ROUTES = int(ENV["COST"]), int(ENV["MANY"]), ENV["ROUTES"].split(",")
INSECURE = ssl._create_unverified_context()
LOCAL = threading.local()
HUGE = 2 << 20
SPENT = []  # ns of each request in the fault or what stands in its place


def vary(us):
    return us * (0.5 + random.random())


def compute(us):
    until = time.thread_time_ns() + us * 1000
    while time.thread_time_ns() < until:
        pass


def price_thing(us):
    compute(us)


def digest_thing(us):
    compute(us)


def checksum_thing(us):
    """Computes without the interpreter's lock, in pieces of some 100 us."""
    until = time.thread_time_ns() + us * 1000
    while time.thread_time_ns() < until:
        hashlib.pbkdf2_hmac("sha256", b"entry", b"thing", 200)


def connect(address, secure=False):
    host, port = address.rsplit(":", 1)
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    conn = kind(host, int(port), **({"context": INSECURE} if secure else {}))
    conn.connect()
    conn.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return conn


def keep(name, make):
    """What this thread keeps under a name."""
    if not hasattr(LOCAL, name):
        setattr(LOCAL, name, make())
    return getattr(LOCAL, name)


def ask(conn, path, delay, method="GET"):
    conn.request(method, f"{path}?delay={int(vary(delay))}")
    conn.getresponse().read()


def kept():
    return keep("conn", lambda: connect(ENV["UPSTREAM"]))


def asks(route, tail=""):
    ask(kept(), f"/{ROUTES[route]}{tail}", COST)


class Session:
    """A session of a database that speaks PostgreSQL's protocol."""

    def __init__(self):
        host, port = ENV["DATABASE"].split(":")
        self.conn = socket.create_connection((host, int(port)))
        self.conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.say(b"", b"\0\3\0\0user\0thing\0\0")

    def say(self, kind, body):
        self.conn.sendall(kind + struct.pack(">I", 4 + len(body)) + body)
        answer = b""
        while answer[-6:-1] != b"Z\0\0\0\5":
            answer += self.conn.recv(512)

    def run(self, sql):
        self.say(b"Q", sql + b"\0")


class Thing:
    young = False  # it is the new release

    def __init__(self):
        self.lock = threading.Lock()
        self.token = None
        self.hosts = 0
        self.things, self.known = [], {}
        self.idle = queue.Queue()
        self.helpers = concurrent.futures.ThreadPoolExecutor(32)
        self.journal = tempfile.TemporaryFile(buffering=0)
        self.metrics = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if ENV["FAULT"] == "pool-exhausted":
            for _ in range(64 if FIXED else 2):
                self.idle.put(connect(ENV["UPSTREAM"]))
        if ENV["FAULT"] == "held-while-waiting":
            for _ in range(2):
                self.idle.put(Session())
        if ENV["FAULT"] == "entropy-wait" and not FIXED:
            source = os.open(ENV["ENTROPY"], os.O_RDONLY)
            random._urandom = lambda n: os.read(source, n)  # as on a machine that runs out of them
        if ENV["FAULT"] == "page-fault":
            self.pages = tempfile.NamedTemporaryFile()
            self.pages.write(os.urandom(64 << 20))
            self.pages.flush()
            os.fsync(self.pages.fileno())
            self.map = mmap.mmap(self.pages.fileno(), 0, prot=mmap.PROT_READ)

    def none(self):
        pass

    def connection_churn(self):
        if FIXED:
            return ask(keep("secure", lambda: connect(ENV["SECURE"], True)), f"/{ROUTES[1]}", COST)
        conn = connect(ENV["SECURE"], True)
        ask(conn, f"/{ROUTES[1]}", COST)
        conn.close()

    def n_plus_one(self):
        for i in range(1 if FIXED else random.randrange(2, 2 + MANY)):
            asks(1, f"/{1000 + i}")

    def serial_calls(self):
        if FIXED:
            return list(self.helpers.map(asks, [1, 2, 3]))
        for i in random.sample([1, 2, 3], 3):
            asks(i)

    def slow_peer(self):
        ask(kept(), f"/{ROUTES[1]}", 1000 + (5 * COST if random.random() < 0.2 and not FIXED else 0))

    def credential_fetch(self):
        if FIXED and self.token:
            return
        self.token = True
        ask(kept(), "/oauth2/token", COST, "POST")

    def lock_convoy(self):
        if FIXED:
            return checksum_thing(vary(COST))
        with self.lock:
            checksum_thing(vary(COST))

    def refresh_under_lock(self):
        if FIXED:
            return asks(1)
        with self.lock:
            asks(1)

    def interpreter_lock(self):
        """Fixed: half of the work."""
        digest_thing(vary(COST / 2 if FIXED else COST))

    def pool_exhausted(self):
        conn = self.idle.get()
        ask(conn, f"/{ROUTES[1]}", COST)
        self.idle.put(conn)

    def sleep_retry(self):
        if not FIXED:
            time.sleep(vary(COST) / 1e6)

    def disk(self):
        self.journal.write(b"x" * 512)
        if not FIXED:
            os.fsync(self.journal.fileno())

    def page_fault(self):
        """The map's pages are dropped and read again."""
        if FIXED:
            return
        for _ in range(MANY):
            at = random.randrange(0, 64 << 20, HUGE)  # the kernel drops what it keeps together, or nothing of it
            self.map.madvise(mmap.MADV_DONTNEED, at, HUGE)
            os.posix_fadvise(self.pages.fileno(), at, HUGE, os.POSIX_FADV_DONTNEED)
            self.map[at]

    def child_process(self):
        if not FIXED:
            subprocess.run(["/bin/true"], check=True)

    def sync_telemetry(self):
        if FIXED:
            return
        host, port = ENV["STATSD"].split(":")
        for i in range(MANY):
            self.metrics.sendto(b"thing.step%d:1|c" % i, (host, int(port)))

    def cpu_bound(self):
        if not FIXED:
            digest_thing(vary(COST))

    def linear_scan(self):
        for _ in range(MANY):
            key = f"thing-{len(self.known)}"
            self.known[key] = 1
            if not FIXED:
                self.things.append(key)
        if not FIXED:
            self.find_thing("nobody")

    def find_thing(self, key):
        for thing in self.things:
            if thing == key:
                return thing

    def slow_dns(self):
        if not FIXED:
            host, port = ENV["DNS"].split(":")
            sock = keep("dns", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            name = b"".join(bytes([len(p)]) + p.encode() for p in f"{ROUTES[1]}.thing.test".split(".")) + b"\0"
            sock.sendto(struct.pack(">HHHHHH", random.randrange(1 << 16), 0x100, 1, 0, 0, 0) + name + b"\0\1\0\1", (host, int(port)))
            sock.recv(512)
        ask(kept(), f"/{ROUTES[1]}", 1000)

    def ask_another(self, peer, secure=False):
        """Asks somebody whom it has not asked before, at the peer's port."""
        self.hosts += 1
        conn = connect(f"127.7.{self.hosts // 200 % 200}.{self.hosts % 200 + 1}:" + ENV[peer].split(":")[1], secure)
        ask(conn, f"/{ROUTES[1]}", 500)
        conn.close()

    def tls_handshake(self):
        self.ask_another("UPSTREAM" if FIXED else "SECURE", not FIXED)

    def retransmit(self):
        """The peer's queue is short, and it accepts late; fixed: another peer."""
        self.ask_another("UPSTREAM" if FIXED else "LATE")

    def send_window(self):
        """The peer reads late; fixed: at once, and a piece is all there is."""
        conn = keep("choked", lambda: connect(ENV["CHOKED"]))
        conn.request("POST", f"/{ROUTES[1]}", bytes((1 if FIXED else MANY) << 16))
        conn.getresponse().read()

    def head_of_line(self):
        """The peer does one thing at a time, and some take long; fixed: all at once."""
        long = random.random() < 0.05
        ask(keep("single", lambda: connect(ENV["SINGLE"])), f"/{ROUTES[2 if long else 1]}", 20 * COST if long else 0)

    def entropy_wait(self):
        secrets.token_bytes(16)

    def held_while_waiting(self):
        """Fixed: it asks before it begins."""
        if FIXED:
            asks(1)
        session = self.idle.get()
        session.run(b"BEGIN")
        session.run(b"UPDATE things SET seen = seen + 1 WHERE id = 7")
        if not FIXED:
            asks(1)
        session.run(b"COMMIT")
        self.idle.put(session)

    def release(self):
        if self.young and not FIXED:
            asks(1)

    def cold_start(self):
        if not FIXED and len(SPENT) < 120:
            digest_thing(vary(COST))

    def accept_queue(self):
        asks(1)

    def delayed_ack(self):
        pass


thing = Thing()
fault = getattr(thing, ENV["FAULT"].replace("-", "_"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0 if ENV["FAULT"] == "delayed-ack" and not FIXED else 1 << 16

    def do_GET(self):
        if self.path == "/cost":
            return self.answer(b"%d %d\n" % (len(SPENT), sum(SPENT)))
        price_thing(vary(int(ENV["OWN_CPU"])))
        ask(kept(), f"/{ROUTES[0]}", int(ENV["OWN_CALL"]))
        begun = time.monotonic_ns()
        fault()
        SPENT.append(time.monotonic_ns() - begun)
        self.answer(b"ok\n")

    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


class Server(http.server.HTTPServer if ENV["FAULT"] == "accept-queue" and not FIXED else http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


server = Server(("127.0.0.1", int(ENV["PORT"])), Handler)
alive, ours = os.pipe()  # its other end is closed when the first process ends


def end_with_the_first():
    os.read(alive, 1)
    os._exit(0)


def serve_beside(young=False):
    """Begins another process that serves, until it is told to end or the first one ends."""
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        thing.young = young
        threading.Thread(target=end_with_the_first, daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        server.serve_forever()
        time.sleep(1)  # it ends what it began to serve
        os._exit(0)
    return pid


others = [serve_beside() for _ in range(int(ENV.get("PROCESSES", "1")) - 1)]
print("ready", flush=True)
if ENV["FAULT"] == "release":  # another process takes over
    time.sleep(12)
    serve_beside(young=True)
    os.kill(others[0], signal.SIGTERM)
    signal.pause()
server.serve_forever()
