// What the home screen calls. DynamoDB: dynalite with the table `rows`, answering after
// DELAY_MS more. STS: moto, whose answers are held until STS_MS after the question. For
// each line on stdin it prints, as JSON, how long its own handler took for the reads since
// the last one: what the database's metric would show; and how often STS was asked.
'use strict';
const http = require('node:http');
const readline = require('node:readline');
const { spawn } = require('node:child_process');
const dynalite = require('dynalite');

const port = Number(process.env.PORT);
const delay = Number(process.env.DELAY_MS || 0);
const stsPort = Number(process.env.STS_PORT);
const stsDelay = Number(process.env.STS_MS || 0);
const motoPort = Number(process.env.MOTO_PORT);
const rows = 500;
const perBatch = 25; // the most that BatchWriteItem takes

let took = [];
let fetched = 0;

const database = dynalite({ createTableMs: 0 });
const [answer] = database.listeners('request');
database.removeAllListeners('request');
database.on('request', (req, res) => {
  const from = process.hrtime.bigint();
  if (!/\.GetItem$/.test(req.headers['x-amz-target'])) return answer(req, res);
  res.on('finish', () => took.push(Number(process.hrtime.bigint() - from)));
  setTimeout(answer, delay, req, res);
});
database.keepAliveTimeout = 300000;

const agent = new http.Agent({ keepAlive: true });

// Everything is handed on to moto; only the time is the emulator's own.
const sts = http.createServer((req, res) => {
  const from = Date.now();
  const asked = http.request({ port: motoPort, agent, method: req.method, path: req.url, headers: req.headers }, (answered) => {
    const parts = [];
    answered.on('data', (part) => parts.push(part));
    answered.on('end', () => setTimeout(() => {
      fetched += 1;
      delete answered.headers.connection;
      res.writeHead(answered.statusCode, answered.headers);
      res.end(Buffer.concat(parts));
    }, Math.max(0, stsDelay - (Date.now() - from))));
  });
  asked.on('error', (err) => res.writeHead(502).end(String(err)));
  req.pipe(asked);
});
sts.keepAliveTimeout = 300000;

function report() {
  took.sort((a, b) => a - b);
  const at = (share) => took[Math.max(0, Math.ceil(took.length * share) - 1)] || 0;
  console.log(JSON.stringify({ count: took.length, p50_ns: at(0.5), p99_ns: at(0.99), max_ns: at(1), credentials: fetched }));
  took = [];
  fetched = 0;
}

function ask(operation, body) {
  const headers = {
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'x-amz-date': '20260101T000000Z',
    'content-type': 'application/x-amz-json-1.0',
    authorization: 'AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=local',
  };
  return new Promise((resolve, reject) => {
    const req = http.request({ port, agent, method: 'POST', headers }, (res) => {
      let text = '';
      res.on('data', (part) => { text += part; });
      res.on('end', () => (res.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(text))));
    });
    req.on('error', reject);
    req.end(JSON.stringify(body));
  });
}

async function fill() {
  await ask('CreateTable', {
    TableName: 'rows',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  while ((await ask('DescribeTable', { TableName: 'rows' })).Table.TableStatus !== 'ACTIVE');
  for (let first = 0; first < rows; first += perBatch) {
    const items = [];
    for (let id = first; id < first + perBatch; id++) {
      items.push({ PutRequest: { Item: { id: { S: String(id) }, title: { S: `Title ${id}` } } } });
    }
    await ask('BatchWriteItem', { RequestItems: { rows: items } });
  }
}

// moto ends with the emulator, whoever ends that.
function startMoto() {
  const moto = spawn('work/venv/bin/moto_server', ['-H', '127.0.0.1', '-p', String(motoPort)], { stdio: 'ignore' });
  process.on('exit', () => moto.kill());
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
}

function reachable(of) {
  return new Promise((resolve) => {
    const req = http.request({ port: of, method: 'HEAD' }, (res) => { res.resume(); resolve(true); });
    req.on('error', () => setTimeout(() => reachable(of).then(resolve), 100));
    req.end();
  });
}

startMoto();
sts.listen(stsPort, '127.0.0.1');
database.listen(port, '127.0.0.1', async () => {
  await fill();
  await reachable(motoPort);
  console.log('ready');
});
readline.createInterface({ input: process.stdin }).on('line', report);
