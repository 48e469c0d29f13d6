// A Node service that reports, per request, what it did. GET /work?sleep=US&cpu=US&
// calls=N&delay=US&flow=F sleeps (a timer), computes, asks the upstream N times (which
// answers after delay), and answers. flow says how the calls are made: direct
// (callbacks), await, seq (callback after callback), all (Promise.all), timer (each
// call from a timer), worker (each after a job of a worker thread), fetch. On SIGTERM,
// one JSON line per request goes to $LOG.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
require('node:dns').setDefaultResultOrder('ipv4first'); // the upstream listens on 127.0.0.1

// UPSTREAM is host:port; SCHEME=https speaks TLS to it.
const upstream = process.env.UPSTREAM;
const scheme = process.env.SCHEME || 'http';
const client = scheme === 'https' ? require('node:https') : http;
const agent = new client.Agent({
  rejectUnauthorized: false, // the upstream's certificate is one for tests
  keepAlive: process.env.KEEP_ALIVE !== '0',
  maxSockets: Number(process.env.MAX_SOCKETS || 0) || Infinity,
});
const log = []; // written at the end, so that logging takes no time of a request's
process.on('SIGTERM', () => {
  if (process.env.LOG) fs.writeFileSync(process.env.LOG, log.join(''));
  process.exit(0);
});
const now = () => Number(process.hrtime.bigint());

// CLOCKS=1 adds what the kernel says of the loop's thread, which is right as long as
// requests come one at a time: ns on a CPU (the process's; with --single-threaded its
// other threads idle) and ns runnable.
const schedstat = process.env.CLOCKS === '1' ? fs.openSync(`/proc/self/task/${process.pid}/schedstat`) : 0;
const line = Buffer.alloc(64);

function clocks() {
  if (!schedstat) return { wall: now(), ran: 0, runnable: 0 };
  const runnable = Number(line.toString('latin1', 0, fs.readSync(schedstat, line, 0, 64, 0)).split(' ')[1]);
  const { user, system } = process.cpuUsage();
  return { wall: now(), ran: (user + system) * 1000, runnable };
}

// off is what lies between two clocks, neither on a CPU nor runnable.
const off = (a, b) => b.wall - a.wall - (b.ran - a.ran) - (b.runnable - a.runnable);

const sleep = (us) => new Promise((done) => setTimeout(done, us / 1000));

function compute(us) {
  const from = now();
  while (now() - from < us * 1000);
  return now() - from;
}

function ask(id, delay, done) {
  const options = { agent, headers: { 'X-Request-Id': id } };
  let answered = false;
  client.get(`${scheme}://${upstream}/answer?delay=${delay}`, options, (res) => {
    res.resume();
    res.on('end', () => { answered = true; done(); });
  }).on('error', (e) => { if (!answered) throw e; }); // a peer that closes may reset what is left of the connection
}

// job computes for us on one of three worker threads.
let workers, jobs = 0;
const waiting = new Map();
function job(id, us) {
  const code = `const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ n, us }) => { const from = performance.now(); while (performance.now() - from < us / 1000); parentPort.postMessage(n); });`;
  workers ||= Array.from({ length: 3 }, () => {
    const w = new (require('node:worker_threads').Worker)(code, { eval: true });
    return w.on('message', (n) => { const done = waiting.get(n); waiting.delete(n); done(); });
  });
  return new Promise((done) => {
    waiting.set(++jobs, done);
    workers[jobs % workers.length].postMessage({ n: jobs, us });
  });
}

const promised = (id, delay) => new Promise((done) => ask(id, delay, done));

const flows = {
  direct(id, plan, done) {
    let left = plan.calls;
    for (let i = 0; i < plan.calls; i++) ask(id, plan.delay, () => --left || done());
    if (!left) done();
  },
  async await(id, plan, done) {
    for (let i = 0; i < plan.calls; i++) await promised(id, plan.delay);
    done();
  },
  seq(id, plan, done) {
    const next = (left) => (left ? ask(id, plan.delay, () => next(left - 1)) : done());
    next(plan.calls);
  },
  async all(id, plan, done) {
    await Promise.all(Array.from({ length: plan.calls }, () => promised(id, plan.delay)));
    done();
  },
  timer(id, plan, done) {
    const next = (left) => (left ? setTimeout(() => ask(id, plan.delay, () => next(left - 1)), 1) : done());
    next(plan.calls);
  },
  async worker(id, plan, done) {
    for (let i = 0; i < plan.calls; i++) {
      await job(id, plan.delay / 4);
      await promised(id, plan.delay);
    }
    done();
  },
  async fetch(id, plan, done) {
    for (let i = 0; i < plan.calls; i++) {
      const answer = await fetch(`http://${upstream}/answer?delay=${plan.delay}`, { headers: { 'X-Request-Id': id } });
      await answer.text();
    }
    done();
  },
};

async function work(req, res) {
  const start = clocks();
  const socket = req.socket;
  const ordinal = socket.served || 0;
  socket.served = ordinal + 1;
  const port = socket.remotePort;
  const id = req.headers['x-request-id'] || '-1';
  const plan = { sleep: 0, cpu: 0, calls: 0, delay: 0, flow: 'direct' };
  for (const [key, value] of new URL(req.url, 'http://x').searchParams) plan[key] = key === 'flow' ? value : Number(value);
  let slept = 0;
  if (plan.sleep) {
    const from = clocks();
    await sleep(plan.sleep);
    slept = off(from, clocks());
  }
  const computed = compute(plan.cpu);
  const from = clocks();
  flows[plan.flow](id, plan, () => {
    const waited = plan.calls ? off(from, clocks()) : 0;
    res.end('ok\n');
    const end = clocks();
    const ran = end.ran - start.ran;
    const runnable = end.runnable - start.runnable;
    log.push(JSON.stringify({ id: Number(id), port, ordinal, start: start.wall, end: end.wall, slept, computed, waited, ran, runnable }) + '\n');
  });
}

const server = http.createServer(work);
server.keepAliveTimeout = 300000;
server.listen(Number(process.env.PORT), '127.0.0.1', 1024, () => console.log('ready'));
