"""Answers on one connection after the other, each in two pieces."""

import socket
import sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    while conn.recv(4096):
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        conn.sendall(b"body\n")
