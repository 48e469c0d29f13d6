// A Node service whose worker thread answers each message with one, and whose program takes one of another
// port by itself: node worker.js PORT
const http = require("http"), { Worker, MessageChannel, receiveMessageOnPort } = require("worker_threads");
const worker = new Worker("const { parentPort } = require('worker_threads'); parentPort.on('message', (n) => parentPort.postMessage(n));", { eval: true });
const waiting = new Map();
worker.on("message", (n) => { waiting.get(n)(); waiting.delete(n); });
let n = 0;
http.createServer(async (request, response) => {
  if (request.url === "/take") {
    const { port1, port2 } = new MessageChannel();
    port1.postMessage("here");
    receiveMessageOnPort(port2);
    port1.close();
  } else {
    await new Promise((resolve) => { waiting.set(++n, resolve); worker.postMessage(n); });
  }
  response.end("ok");
}).listen(Number(process.argv[2]), "127.0.0.1");
