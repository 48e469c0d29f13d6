"""Threads that wait for known things in known places."""
import math
import os
import sys
import threading
import time

lock = threading.Lock()


def hold():
    with lock:
        nap()


def nap():
    time.sleep(0.03)


class Waiter:
    def want(self):
        with lock:
            burn(0.002)


def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        math.factorial(200)


def late():
    time.sleep(0.03)


def child():
    time.sleep(0.03)


def forever(work):
    while True:
        work()


def start(work):
    threading.Thread(target=forever, args=(work,), daemon=True).start()


def deep(depth):
    if depth == 0:
        time.sleep(0.002)
    else:
        deep(depth - 1)


for _ in range(32 if len(sys.argv) > 1 else 0):
    start(lambda: deep(60))
start(hold)
start(Waiter().want)
sys.stdin.readline()
start(late)
if os.fork() == 0:
    forever(child)
sys.stdin.readline()
