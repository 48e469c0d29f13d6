// A Node service whose endpoints are drawn from a seed: PLAN is the JSON of
// corpus.Plan. HTTP, REDIS and POSTGRES are the addresses of the peers, PORT is ours,
// POOL how many connections a pool has. Each call carries the id of its request, so
// that the peers can log whose it is. STORAGE=1 follows requests by AsyncLocalStorage.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const zlib = require('node:zlib');
const { Worker, isMainThread, parentPort } = require('node:worker_threads');
const { AsyncLocalStorage } = require('node:async_hooks');

const now = () => Number(process.hrtime.bigint());
function compute(us) {
  const from = now();
  while (now() - from < us * 1000);
}

if (!isMainThread) parentPort.on('message', (us) => { compute(us); parentPort.postMessage(0); });
else main();

async function main() {
  const need = (name) => require(require.resolve(name, { paths: [process.env.MODULES] }));
  const plan = JSON.parse(process.env.PLAN);
  const uses = new Set();
  JSON.stringify(plan, (key, value) => { if (key === 'do') uses.add(value); return value; });
  const size = Number(process.env.POOL || 32);
  const base = `http://${process.env.HTTP}`;
  const path = (us) => `/answer?delay=${us}`;
  const headers = (id) => ({ 'X-Request-Id': id });
  const agent = new http.Agent({ keepAlive: true, maxSockets: size });
  const get = (id, us, how) => new Promise((done, failed) => {
    http.get(base + path(us), { agent: how, headers: headers(id) }, (res) => {
      res.resume();
      res.on('end', done);
    }).on('error', failed);
  });
  const once = (make) => { let made; return () => (made ??= make()); };
  const pool = once(() => new (need('undici').Pool)(base, { connections: size }));
  const [redisHost, redisPort] = process.env.REDIS.split(':');
  const ioredis = once(() => new (need('ioredis').Redis)({ host: redisHost, port: Number(redisPort), enableReadyCheck: false, enableAutoPipelining: process.env.PIPELINE === '1' }));
  const noderedis = uses.has('noderedis') && need('redis').createClient({ url: `redis://${process.env.REDIS}` });
  if (noderedis) await noderedis.connect();
  const [pgHost, pgPort] = process.env.POSTGRES.split(':');
  const pg = once(() => new (need('pg').Pool)({ host: pgHost, port: Number(pgPort), user: 'u', database: 'd', max: size, idleTimeoutMillis: 0 }));
  const axios = once(() => need('axios').create({ httpAgent: agent }));
  const limit = uses.has('limit') && (await import(require.resolve('p-limit', { paths: [process.env.MODULES] }))).default(8);
  const worker = once(() => {
    const w = new Worker(__filename);
    const waiting = [];
    w.on('message', () => waiting.shift()());
    return (us) => new Promise((done) => { waiting.push(done); w.postMessage(us); });
  });
  const flights = new Map();
  const steps = {
    http: (id, us) => get(id, us, agent),
    new: (id, us) => get(id, us, false),
    fetch: async (id, us) => (await fetch(base + path(us), { headers: headers(id) })).text(),
    undici: async (id, us) => (await pool().request({ path: path(us), method: 'GET', headers: headers(id) })).body.text(),
    axios: (id, us) => axios().get(base + path(us), { headers: headers(id) }),
    ioredis: (id) => ioredis().get(`${id}:0`),
    noderedis: (id) => noderedis.get(`${id}:0`),
    pg: (id, us) => pg().query(`SELECT '${id}:${us}'`),
    limit: (id, us) => limit(() => get(id, us, agent)),
    // flight: who comes meanwhile awaits the call that is under way.
    flight: (id, us) => {
      if (!flights.has(0)) flights.set(0, get(id, us, agent).finally(() => flights.delete(0)));
      return flights.get(0);
    },
    sleep: (id, us) => new Promise((done) => setTimeout(done, us / 1000)),
    cpu: async (id, us) => compute(us),
    immediate: () => new Promise((done) => setImmediate(done)),
    tick: async () => {},
    file: () => fs.promises.readFile(__filename),
    gzip: () => new Promise((done) => zlib.gzip(Buffer.alloc(20000, 'x'), done)),
    job: () => worker()(200),
  };
  const take = (step) => Math.round(step.us ? step.us * (step.vary ? 0.5 + Math.random() : 1) : 0);
  const run = async (id, all) => {
    for (const step of all) {
      if (step.do === 'all') await Promise.all(step.of.map((branch) => run(id, branch)));
      else await steps[step.do](id, take(step));
    }
  };
  const storage = process.env.STORAGE === '1' && new AsyncLocalStorage();
  const serve = async (req, res) => {
    await run(req.headers['x-request-id'] || '-1', plan[req.url.slice(1)]);
    res.end('ok\n');
  };
  const server = http.createServer((req, res) => (storage ? storage.run({}, serve, req, res) : serve(req, res)));
  // BACKGROUND is how often, in ms, the service does something for no request.
  const every = Number(process.env.BACKGROUND || 0);
  if (every) setInterval(() => [...uses].filter((use) => 'http ioredis undici'.includes(use)).forEach((use) => steps[use](-2, 3000)), every);
  server.keepAliveTimeout = 300000;
  server.listen(Number(process.env.PORT), '127.0.0.1', 1024, () => console.log('ready'));
}
