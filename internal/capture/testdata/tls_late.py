"""Loads its TLS library at a line of input, and then forks: tls_late.py PORT. Each of
both processes makes 30 calls, 20 ms apart."""
import os
import sys
import time

sys.stdin.readline()
import http.client
import ssl

context = ssl._create_unverified_context()


def work(path):
    c = http.client.HTTPSConnection("localhost", int(sys.argv[1]), context=context)
    for _ in range(30):
        c.request("GET", path)
        c.getresponse().read()
        time.sleep(0.02)


work("/parent")
if os.fork() == 0:
    work("/child")
    os._exit(0)
os.wait()
sys.stdin.read()
