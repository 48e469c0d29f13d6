"""Forks, and takes turns at the locks of two files with its child, once it is told to."""

import fcntl
import os
import sys
import time

folder = sys.argv[1]
taken, gone = os.pipe(), os.pipe()
sys.stdin.readline()
child = os.fork()
carts = open(folder + "/carts.lock", "w")  # a lock is its opener's: each has opened the file itself
users = open(folder + "/users.lock", "w")
for lock in [fcntl.flock, fcntl.lockf] * 8:
    file = carts if lock == fcntl.flock else users
    if child:
        os.read(taken[0], 1)
        lock(file, fcntl.LOCK_EX)  # until the child has done with it
        lock(file, fcntl.LOCK_UN)
        os.write(gone[1], b".")
    else:
        lock(file, fcntl.LOCK_EX)
        os.write(taken[1], b".")
        time.sleep(0.03)
        lock(file, fcntl.LOCK_UN)
        os.read(gone[0], 1)
if child:
    os.waitpid(child, 0)
