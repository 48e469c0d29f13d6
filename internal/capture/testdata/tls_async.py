"""As tls_client.py, on one thread: tls_async.py PORT. asyncio encrypts in memory and
sends what comes out."""
import asyncio
import ssl
import sys

port = int(sys.argv[1])
context = ssl._create_unverified_context()


async def call(stream, method, path, body=b"", *fields):
    reader, writer = stream
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *fields, "", ""]
    writer.write("\r\n".join(head).encode())
    if body:
        writer.write(body)
    answer = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(answer.lower().split(b"content-length: ")[1].split(b"\r")[0]))


async def work(n):
    stream = await asyncio.open_connection("localhost", port, ssl=context)
    for i in range(n):
        await call(stream, "GET", f"/items/{i}?secret=hidden")
        await call(stream, "POST", "/", b"Version=2011&Action=AssumeRole&Secret=hidden", "Content-Type: application/x-www-form-urlencoded")
        await call(stream, "POST", "/table", b"{}" * 20_000, "X-Amz-Target: DynamoDB.GetItem", "Authorization: " + "x" * 900)
    stream[1].close()
    for _ in range(3):
        stream = await asyncio.open_connection("localhost", port, ssl=context)
        await call(stream, "PUT", "/once")
        stream[1].close()


async def both():
    await asyncio.gather(work(20), work(20))


sys.stdin.readline()
asyncio.run(both())
sys.stdin.read()
