# HTTP servers for the live tests: python3 server.py MODE PORT
import http.server, os, socket, sys, threading, time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.01)
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


def threaded(port):
    Server(("127.0.0.1", port), Handler).serve_forever()


def prefork(port):
    # The parent listens, a child that starts at the first line of input serves.
    s = Server(("127.0.0.1", port), Handler)
    sys.stdin.readline()
    if os.fork() == 0:
        s.serve_forever()
    os.wait()


def bulk(port):
    # One response of 2 MiB in writes of 1 KiB.
    s = socket.create_server(("127.0.0.1", port))
    while True:
        c, _ = s.accept()
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not c.recv(4096):
            c.close()  # a probe whether we listen
            continue
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2097152\r\n\r\n")
        for _ in range(2048):
            c.sendall(b"x" * 1024)
        c.close()


def refused(port):
    # Connects to a port where nobody listens, at each line of input.
    for _ in sys.stdin:
        try:
            socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            pass


def resolve(_):
    # Looks a name up, at each line of input.
    for _ in sys.stdin:
        try:
            socket.getaddrinfo("db.dwell.test", 80, proto=socket.IPPROTO_TCP)
        except OSError:
            pass


globals()[sys.argv[1]](int(sys.argv[2]))
