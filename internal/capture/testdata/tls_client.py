"""Calls over TLS: tls_client.py PORT. Two threads with a connection each, and some calls
with one of their own; begins at a line of input and ends with its input."""
import http.client
import ssl
import sys
import threading

port = int(sys.argv[1])
context = ssl._create_unverified_context()


def call(c, method, path, body=None, **headers):
    c.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    c.getresponse().read()


def work(n):
    c = http.client.HTTPSConnection("localhost", port, context=context)
    for i in range(n):
        call(c, "GET", f"/items/{i}?secret=hidden")
        call(c, "POST", "/", "Version=2011&Action=AssumeRole&Secret=hidden", Content_Type="application/x-www-form-urlencoded")
        call(c, "POST", "/table", b"{}" * 20_000, X_Amz_Target="DynamoDB.GetItem", Authorization="x" * 900)
    c.close()
    for _ in range(3):
        c = http.client.HTTPSConnection("localhost", port, context=context)
        call(c, "PUT", "/once")
        c.close()


sys.stdin.readline()
threads = [threading.Thread(target=work, args=(20,)) for _ in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
sys.stdin.read()
