// A Node service that does a lot with files, and sleeps between: node files.js PORT
const http = require("http"), fs = require("fs");
http.createServer((q, r) => r.end("ok")).listen(Number(process.argv[2]), "127.0.0.1");
setInterval(() => { for (let i = 0; i < 150; i++) fs.stat(__filename, () => {}); }, 10);
(async () => { for (;;) await new Promise((resolve) => setTimeout(resolve, 20)); })();
