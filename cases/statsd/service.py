"""A shop with threads in Python; its metrics go through the datadog client as it is published:
unbuffered over UDP, or buffered over a Unix socket with a sender thread."""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "work", "python"))
from datadog.dogstatsd.base import DogStatsd  # noqa: E402

PARTS = 110


def client():
    """The client that the environment names; both have one API."""
    if os.environ["METRICS"] == "buffered":
        return DogStatsd(socket_path=os.environ["STATSD_SOCKET"], disable_buffering=False,
                         disable_telemetry=True, disable_background_sender=False)
    return DogStatsd(host="127.0.0.1", port=int(os.environ["STATSD_PORT"]), disable_buffering=True, disable_telemetry=True)


class LocalCache:
    def __init__(self, metrics):
        self.metrics, self.values = metrics, {}

    def fetch(self, key):
        began = time.perf_counter()
        value = self.values.setdefault(key, f"value of {key}")
        self.metrics.increment("cache.local.hit")
        self.metrics.timing("cache.local.time", (time.perf_counter() - began) * 1000)
        return value


METRICS = client()
LOCAL = LocalCache(METRICS)


def part(number, text):
    began = time.perf_counter()
    rendered = json.dumps([{"part": number, "line": n, "text": text} for n in range(4)])
    METRICS.increment("part.rendered")
    METRICS.timing("part.time", (time.perf_counter() - began) * 1000)
    return rendered


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        number = int(self.path.rsplit("/", 1)[1])
        values = [LOCAL.fetch(f"product:{(number * 7 + n) % 1000}") for n in range(4 + number % 5)]
        page = "".join(part(n, values[n % len(values)]) for n in range(PARTS)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024


print("ready", flush=True)
Server(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
