"""A service of threads, which ask an event loop on a thread of its own to make their calls and
wait for the answers, as synchronous facades of asynchronous clients do. HTTP is the address of
the peer, PORT is ours. Each call carries the id of its request.
"""

import asyncio
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import aiohttp

BASE = f"http://{os.environ['HTTP']}/answer?delay="
LOOP = asyncio.new_event_loop()
SESSION = None


async def connect():
    global SESSION
    SESSION = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=32))


async def ask(request_id, us):
    async with SESSION.get(f"{BASE}{us}", headers={"X-Request-Id": request_id}) as answer:
        await answer.read()


async def chain(request_id, us, calls):
    for _ in range(calls):
        await ask(request_id, us)


def wait(coroutine):
    return asyncio.run_coroutine_threadsafe(coroutine, LOOP).result()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        plan = {key: values[0] for key, values in parse_qs(urlparse(self.path).query).items()}
        request_id, us, calls = self.headers.get("X-Request-Id", "-1"), int(plan["delay"]), int(plan["calls"])
        if plan["flow"] == "chain":
            wait(chain(request_id, us, calls))
        else:
            for _ in range(calls):
                wait(ask(request_id, us))
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


threading.Thread(target=LOOP.run_forever, daemon=True).start()
wait(connect())
server = Server(("127.0.0.1", int(os.environ["PORT"])), Handler)
print("ready", flush=True)
server.serve_forever()
