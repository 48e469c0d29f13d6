"""Makes 24 calls to itself on one connection once it is told to, one after the other."""

import socket
import sys
import threading

listener = socket.create_server(("127.0.0.1", 0))


def serve():
    conn, _ = listener.accept()
    while conn.recv(4096):
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


threading.Thread(target=serve, daemon=True).start()
sys.stdin.readline()
conn = socket.create_connection(listener.getsockname())
for _ in range(24):
    conn.sendall(b"GET / HTTP/1.1\r\nHost: here\r\nPadding: " + b"x" * 400 + b"\r\n\r\n")
    conn.recv(4096)
