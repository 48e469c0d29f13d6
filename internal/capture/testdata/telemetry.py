"""Sends telemetry, and a datagram that is none: telemetry.py PORT STATSD_SOCKET LOG_SOCKET"""
import logging
import logging.handlers
import socket
import sys

port, statsd, log = int(sys.argv[1]), sys.argv[2], sys.argv[3]
sys.stdin.readline()

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.sendto(b"shop.orders:1|c\nshop.time:320|ms|#user:4711", ("127.0.0.1", port))
udp.sendto(b"something else altogether", ("127.0.0.1", port))
udp.connect(("127.0.0.1", port))
udp.send(b"shop.orders:1|c")
unix = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
unix.connect(statsd)
unix.send(b"shop.basket:3|g")

handler = logging.handlers.SysLogHandler(log)
handler.setFormatter(logging.Formatter("Oct 11 22:14:15 %(message)s"))
logging.getLogger().addHandler(handler)
logging.getLogger().error("signed in: 4711")
