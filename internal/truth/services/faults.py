"""Services with one fault that users reported of libraries, PROBLEM, or without it, with FIXED=1:

nagle    sends each command to its peer in three small pieces. Fixed: at once.
workers  its only worker ends every 40 requests, and the next computes before it accepts.
         Fixed: it does not end.
helper   hands work to a thread of a pool, which runs a program for it. Fixed: it does not.
handed   on an event loop, the task of a request waits for a task of its own, which has a thread
         sleep, as a framework's middleware does. Fixed: that does not sleep.
begun    the same with a thread that is made for it.
peer     what the others call: it answers GET, SET and BRPOP (after its time-out, in vain) as
         Redis does, on each connection one after the other.

PORT is in the environment, and PEER, the port of the peer.
"""

import asyncio
import concurrent.futures
import contextvars
import ctypes
import http.server
import os
import queue
import signal
import socket
import socketserver
import subprocess
import threading
import time

FIXED = os.environ.get("FIXED") == "1"
PORT = int(os.environ["PORT"])
LOCAL = threading.local()
HELPERS = concurrent.futures.ThreadPoolExecutor(8)


def send_pieces(pieces):
    conn = getattr(LOCAL, "conn", None)
    if conn is None:
        conn = LOCAL.conn = socket.create_connection(("127.0.0.1", int(os.environ["PEER"])))
    for piece in [b"".join(pieces)] if FIXED else pieces:
        conn.sendall(piece)
    conn.recv(100)


def thumbnail():
    return b"ok\n" if FIXED else subprocess.run(["sh", "-c", "sleep 0.03; echo ok"], capture_output=True).stdout


class Handler(http.server.BaseHTTPRequestHandler):
    wbufsize = 1 << 16  # one write per answer

    def do_GET(self):
        body = HELPERS.submit(thumbnail).result() if os.environ["PROBLEM"] == "helper" else b"ok\n"
        if os.environ["PROBLEM"] == "nagle":
            send_pieces([b"*3\r\n$3\r\nSET\r\n", b"$1\r\nk\r\n", b"$5\r\nvalue\r\n"])
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve():
    Handler.protocol_version = "HTTP/1.1"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    print("ready", flush=True)
    server.serve_forever()


def workers():
    server = http.server.HTTPServer(("127.0.0.1", PORT), Handler, bind_and_activate=False)
    server.request_queue_size = 128
    server.server_bind()
    server.server_activate()
    while True:
        if worker := os.fork():
            os.waitpid(worker, 0)
            continue
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: it ends with its parent
        load_application()
        print("ready", flush=True)
        served = 0
        while FIXED or served < 40:
            server.handle_request()
            served += 1
        os._exit(0)


def load_application():
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass


def nap():
    if not FIXED:
        time.sleep(0.012)


def do(loop, context, done):
    context.run(nap)
    loop.call_soon_threadsafe(done.set_result, None)


def work(tasks, loop):
    while True:
        do(loop, *tasks.get())


async def handed(begin):
    loop, tasks = asyncio.get_running_loop(), queue.Queue()
    for _ in range(8):
        threading.Thread(target=work, args=(tasks, loop), daemon=True).start()

    async def endpoint():
        task = contextvars.copy_context(), loop.create_future()
        if begin:
            threading.Thread(target=do, args=(loop, *task)).start()
        else:
            tasks.put(task)
        await task[1]

    async def answer(writer):
        await asyncio.create_task(endpoint())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")

    async def serve(reader, writer):
        while await reader.readline():
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.create_task(answer(writer))

    await asyncio.start_server(serve, "127.0.0.1", PORT)
    print("ready", flush=True)
    await asyncio.Event().wait()


class Peer(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            words = [self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2] for _ in range(int(line[1:]))]
            if words[0] == b"BRPOP":
                time.sleep(float(words[-1]))
            self.wfile.write({b"GET": b"$2\r\non\r\n", b"SET": b"+OK\r\n"}.get(words[0], b"*-1\r\n"))


class Peers(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def peer():
    server = Peers(("127.0.0.1", PORT), Peer)
    print("ready", flush=True)
    server.serve_forever()


{"nagle": serve, "helper": serve, "workers": workers, "handed": lambda: asyncio.run(handed(False)), "begun": lambda: asyncio.run(handed(True)), "peer": peer}[os.environ["PROBLEM"]]()
