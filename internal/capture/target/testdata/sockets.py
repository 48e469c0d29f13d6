# Listens on the given address with a queue of 17, connects to itself twice, accepts
# one connection, and says which port it has.
import socket, sys, time

family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
listener = socket.socket(family)
listener.bind((sys.argv[1], 0))
listener.listen(17)
address = listener.getsockname()
outgoing = [socket.create_connection(address[:2]) for _ in range(2)]
accepted, _ = listener.accept()
print(address[1], listener.fileno(), outgoing[0].getsockname()[1], flush=True)
time.sleep(3600)
