// A Node service that asks an upstream over a pool: node server.js PORT UPSTREAM-PORT
const http = require("http"), fs = require("fs"), crypto = require("crypto");
const [port, upstream] = process.argv.slice(2).map(Number);
const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
const nap = async () => await new Promise((resolve) => setTimeout(resolve, 1));
http.createServer((q, r) => setTimeout(() => r.end("stored"), 3)).listen(upstream, "127.0.0.1");
http.createServer((q, r) => {
  http.get({ host: "127.0.0.1", port: upstream, path: "/item", agent }, (u) => {
    u.resume();
    u.on("end", async () => {
      await nap();
      fs.stat(__filename, () => crypto.randomBytes(8, () => r.end("ok")));
    });
  });
}).listen(port, "127.0.0.1");
