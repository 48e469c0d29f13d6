"""Answers requests over FastCGI on one connection after the other."""

import socket
import struct
import sys


def record(kind, content):
    return struct.pack(">BBHHBB", 1, kind, 1, len(content), 0, 0) + content


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    stream = conn.makefile("rb")
    while head := stream.read(8):
        kind, size = head[1], struct.unpack(">H", head[4:6])[0]
        stream.read(size + head[6])
        if kind == 5 and size == 0:  # the end of its body
            conn.sendall(record(6, b"Status: 201 Created\r\nContent-Type: text/plain\r\n\r\nok") + record(6, b"") + record(3, bytes(8)))
