// DynamoDB, emulated: dynalite over TLS with the table `items`. For each line on stdin it
// prints, as JSON, how long its own handler took for the GetItems since the last one:
// what the database's metric would show.
'use strict';
const readline = require('node:readline');
const dynalite = require('dynalite');
process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = '1';
const https = require('node:https');
const DynamoDB = require('aws-sdk/clients/dynamodb');

const port = Number(process.env.PORT);
const server = dynalite({ ssl: true, createTableMs: 0 });
let took = [];

server.prependListener('request', (req, res) => {
  const from = process.hrtime.bigint();
  if (!String(req.headers['x-amz-target']).endsWith('.GetItem')) return;
  res.on('finish', () => took.push(Number(process.hrtime.bigint() - from)));
});

function report() {
  took.sort((a, b) => a - b);
  const at = (share) => took[Math.max(0, Math.ceil(took.length * share) - 1)] || 0;
  console.log(JSON.stringify({ count: took.length, p50_ns: at(0.5), p99_ns: at(0.99), max_ns: at(1) }));
  took = [];
}

async function fill() {
  const db = new DynamoDB({
    endpoint: `https://localhost:${port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    httpOptions: { agent: new https.Agent({ keepAlive: true, rejectUnauthorized: false }) },
  });
  await db.createTable({
    TableName: 'items',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  }).promise();
  await db.waitFor('tableExists', { TableName: 'items', $waiter: { delay: 0.05 } }).promise();
  for (let id = 0; id < 100; id++) {
    const Item = { id: { S: String(id) }, name: { S: `item ${id}` }, price: { N: String(id) } };
    await db.putItem({ TableName: 'items', Item }).promise();
  }
}

server.listen(port, '127.0.0.1', () => fill().then(() => console.log('ready')));
readline.createInterface({ input: process.stdin }).on('line', report);
