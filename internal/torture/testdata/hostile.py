# A watched program that means harm. Its names command terminals, the source that it names is a link to a file of
# root's (line 14 of KEY), it runs a program of a file system that falls silent, and others that claim gigabytes.
import ctypes, os, subprocess, sys, threading, time

key, silent, claims = sys.argv[1:]
os.setgroups([])
os.setgid(65534)
os.setuid(65534)


def call_myself(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)


def run(code, name):
    def body():
        call_myself(name)
        exec(code, {'time': time})
    threading.Thread(target=body, daemon=True).start()


busy = '\n' * 13 + 'while True: sum(range(20000)); time.sleep(.01)'
run(compile(busy, key, 'exec'), b'\x1b[2J\x9b31m')
run(compile(busy, '/\x1b[31m\u202e.py', 'exec').replace(co_name='\x1b]0;CODE\x07'), b'\xff\xfe\xc2\x9b')
call_myself(b'\x1b]0;NAME\x07')
for _ in range(3):
    echo = subprocess.Popen([silent], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    echo.stdin.write(b'it runs\n')
    echo.stdin.flush()
    echo.stdout.readline()
print('ready', flush=True)
while True:
    program = subprocess.Popen([claims, '.05'])
    if not os.fork():
        os._exit(0)
    os.wait()
    program.wait()
