"""Answers on the Unix socket argv[1]; asks the one at argv[2] for each request, on a
connection of its own. A thread for each connection; a line on stdout when it is ready."""
import os, socket, sys, threading

def head(connection, before=b""):
    while b"\r\n\r\n" not in before:
        more = connection.recv(65536)
        if not more:
            return b""
        before += more
    return before

def ask(path):
    upstream = socket.socket(socket.AF_UNIX)
    upstream.connect(sys.argv[2].replace("@", "\0"))
    upstream.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: upstream\r\n\r\n")
    head(upstream)
    upstream.close()

def serve(connection):
    with connection:
        while request := head(connection):
            ask(request.split()[1])
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
pair = socket.socketpair()  # has no name: nobody's service
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    pair[0].sendall(b"GET /within HTTP/1.1\r\n\r\n")
    pair[1].recv(65536)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
