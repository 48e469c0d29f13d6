// As tls_client.py, in Node: node tls_client.js PORT.
const https = require("https");
const port = Number(process.argv[2]);

function call(agent, method, path, body, headers) {
  return new Promise((done, fail) => {
    const options = { host: "localhost", family: 4, port, method, path, agent, headers, rejectUnauthorized: false };
    const q = https.request(options, (r) => r.resume().on("end", done));
    q.on("error", fail);
    q.end(body);
  });
}

async function work(n) {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < n; i++) {
    await call(agent, "GET", `/items/${i}?secret=hidden`);
    await call(agent, "POST", "/", "Version=2011&Action=AssumeRole&Secret=hidden",
      { "Content-Type": "application/x-www-form-urlencoded" });
    await call(agent, "POST", "/table", "{}".repeat(20_000),
      { "X-Amz-Target": "DynamoDB.GetItem", Authorization: "x".repeat(900) });
  }
  agent.destroy();
  for (let i = 0; i < 3; i++) await call(false, "PUT", "/once");
}

process.stdin.once("data", () => Promise.all([work(20), work(20)]));
