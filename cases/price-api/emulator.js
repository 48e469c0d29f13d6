// DynamoDB, emulated: dynalite with the table `prices`, answering after DELAY_MS more. For
// each line on stdin it prints, as JSON, how long its own handler took for the reads since
// the last one: what the database's metric would show.
'use strict';
const http = require('node:http');
const readline = require('node:readline');
const dynalite = require('dynalite');

const port = Number(process.env.PORT);
const delay = Number(process.env.DELAY_MS || 0);
const skus = 5000;
const perBatch = 25; // the most that BatchWriteItem takes

const server = dynalite({ createTableMs: 0 });
let took = [];

const [answer] = server.listeners('request');
server.removeAllListeners('request');
server.on('request', (req, res) => {
  const from = process.hrtime.bigint();
  if (!/\.(GetItem|BatchGetItem)$/.test(req.headers['x-amz-target'])) return answer(req, res);
  res.on('finish', () => took.push(Number(process.hrtime.bigint() - from)));
  if (delay > 0) setTimeout(answer, delay, req, res);
  else answer(req, res);
});
server.keepAliveTimeout = 300000;

function report() {
  took.sort((a, b) => a - b);
  const at = (share) => took[Math.max(0, Math.ceil(took.length * share) - 1)] || 0;
  console.log(JSON.stringify({ count: took.length, p50_ns: at(0.5), p99_ns: at(0.99), max_ns: at(1) }));
  took = [];
}

const agent = new http.Agent({ keepAlive: true });

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
    TableName: 'prices',
    AttributeDefinitions: [{ AttributeName: 'sku', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'sku', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  while ((await ask('DescribeTable', { TableName: 'prices' })).Table.TableStatus !== 'ACTIVE');
  for (let first = 0; first < skus; first += perBatch) {
    const prices = [];
    for (let sku = first; sku < first + perBatch; sku++) {
      prices.push({ PutRequest: { Item: { sku: { S: String(sku) }, price: { N: String(100 + sku) } } } });
    }
    await ask('BatchWriteItem', { RequestItems: { prices } });
  }
}

server.listen(port, '127.0.0.1', () => fill().then(() => console.log('ready')));
readline.createInterface({ input: process.stdin }).on('line', report);
