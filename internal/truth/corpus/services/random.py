"""An asyncio service whose endpoints are drawn from a seed: PLAN is the JSON of
corpus.Plan. HTTP and REDIS are the addresses of the peers, PORT is ours. Each call
carries the id of its request, so that the peers can log whose it is.
"""

import asyncio
import http.client
import json
import os
import random
import threading
import time

import aiohttp
import httpx
import redis.asyncio
from aiohttp import web

PLAN = json.loads(os.environ["PLAN"])
HTTP = os.environ["HTTP"]
BASE = f"http://{HTTP}/answer?delay="
LOCAL = threading.local()


def compute(us):
    until = time.thread_time_ns() + us * 1000
    while time.thread_time_ns() < until:
        pass


def ask_on_thread(request_id, us):
    if not hasattr(LOCAL, "conn"):
        LOCAL.conn = http.client.HTTPConnection(HTTP)
    LOCAL.conn.request("GET", f"/answer?delay={us}", headers={"X-Request-Id": request_id})
    LOCAL.conn.getresponse().read()


class Steps:
    def __init__(self):
        size = int(os.environ.get("POOL", "32"))
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=size))
        self.client = httpx.AsyncClient(limits=httpx.Limits(max_connections=size), timeout=30)
        host, port = os.environ["REDIS"].split(":")
        self.store = redis.asyncio.Redis(host=host, port=int(port), protocol=2)
        self.queue = asyncio.Queue()
        self.workers = [asyncio.create_task(self.work()) for _ in range(3)]

    async def work(self):
        while True:
            request_id, us, done = await self.queue.get()
            await self.aiohttp(request_id, us)
            done.set_result(None)

    async def aiohttp(self, request_id, us):
        async with self.session.get(f"{BASE}{us}", headers={"X-Request-Id": request_id}) as answer:
            await answer.read()

    async def httpx(self, request_id, us):
        await self.client.get(f"{BASE}{us}", headers={"X-Request-Id": request_id})

    async def redis(self, request_id, us):
        await self.store.get(f"{request_id}:{us}")

    async def thread(self, request_id, us):
        await asyncio.to_thread(ask_on_thread, request_id, us)

    async def queued(self, request_id, us):
        done = asyncio.get_running_loop().create_future()
        self.queue.put_nowait((request_id, us, done))
        await done

    async def sleep(self, request_id, us):
        await asyncio.sleep(us / 1e6)

    async def cpu(self, request_id, us):
        compute(us)

    async def run(self, request_id, steps):
        for step in steps:
            if step["do"] == "all":
                await asyncio.gather(*(self.run(request_id, branch) for branch in step["of"]))
                continue
            us = step.get("us", 0)
            if step.get("vary"):
                us = int(us * random.uniform(0.5, 1.5))
            await getattr(self, step["do"])(request_id, us)


async def main():
    steps = Steps()

    async def serve(request):
        await steps.run(request.headers.get("X-Request-Id", "-1"), PLAN[request.match_info["endpoint"]])
        return web.Response(text="ok\n")

    app = web.Application()
    app.router.add_get("/{endpoint}", serve)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=300)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(os.environ["PORT"]), backlog=1024).start()
    print("ready", flush=True)
    # BACKGROUND is how often, in ms, the service does something for no request.
    every = int(os.environ.get("BACKGROUND", "0")) / 1000
    while True:
        await asyncio.sleep(every or 3600)
        await steps.aiohttp("-2", 3000)


asyncio.run(main())
