// The service of the incident: read one item from DynamoDB, write a line to the log,
// answer. KEEP_ALIVE=1 is the fix; nothing else differs.
'use strict';
process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = '1';
const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const DynamoDB = require('aws-sdk/clients/dynamodb');

// Node's global agents keep connections since version 19, but the SDK's own agent does
// not, nor does one built like this.
const agent = new https.Agent({
  keepAlive: process.env.KEEP_ALIVE === '1',
  maxSockets: Infinity,
  rejectUnauthorized: false, // the emulator signs its own certificate
});

const db = new DynamoDB.DocumentClient({
  endpoint: process.env.DYNAMODB,
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  httpOptions: { agent, timeout: 120000 },
  maxRetries: 0,
});

const log = fs.createWriteStream(process.env.LOG || '/dev/null', { flags: 'a' });

async function handle(req, res) {
  const id = req.url.split('/')[2];
  const { Item } = await db.get({ TableName: 'items', Key: { id: String(id % 100) } }).promise();
  log.write(`${new Date().toISOString()} ${req.method} ${req.url} ${Item.name}\n`);
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify(Item));
}

const server = http.createServer((req, res) => {
  handle(req, res).catch((err) => {
    res.statusCode = 502;
    res.end(String(err));
  });
});

server.keepAliveTimeout = 300000; // the load generator's connections outlive a queue
// The accept queue is as long as the system allows: beyond the knee one pass of the event
// loop takes seconds, and what then overflows would be reset, not slow.
server.listen(process.env.PORT, '127.0.0.1', 65535, () => console.log('ready'));
