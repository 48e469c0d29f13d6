// The Node service of the fault bench; its environment is documented in internal/truth/cmd/faulty.
// The names with thing in them are replaced by others in each run.
'use strict';
const { execFile } = require('node:child_process');
const dgram = require('node:dgram');
const dns = require('node:dns');
const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');

const env = process.env;
const fixed = env.FIXED === '1';
const cost = Number(env.COST), many = Number(env.MANY), routes = env.ROUTES.split(',');
const kept = new http.Agent({ keepAlive: true }), keptSecure = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
const churning = new https.Agent({ keepAlive: false, rejectUnauthorized: false });
const small = new http.Agent({ keepAlive: true, maxSockets: 2 });
const portOf = (address) => address.split(':')[1];

const vary = (us) => us * (0.5 + Math.random());
const sleep = (us) => new Promise((done) => setTimeout(done, us / 1000));

function compute(us) {
  const until = performance.now() + us / 1000;
  while (performance.now() < until);
}
function priceThing(us) { compute(us); }
function digestThing(us) { compute(us); }

function ask(url, delay, agent = kept, method = 'GET') {
  return new Promise((done, failed) => {
    const client = url.startsWith('https:') ? https : http;
    client.request(`${url}?delay=${Math.round(vary(delay))}`, { agent, method }, (res) => {
      res.resume();
      res.on('end', done);
    }).on('error', failed).end();
  });
}
const asks = (route, tail = '', agent = kept) => ask(`http://${env.UPSTREAM}/${routes[route]}${tail}`, cost, agent);

function shuffled(list) {
  return list.map((one) => [Math.random(), one]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]);
}

const things = [], known = new Map();
function findThing(key) {
  let at = -1;
  for (let i = 0; i < things.length; i++) if (things[i].length === key.length || things[i] > key) at = i;
  return at;
}

let token, hosts = 0;
const faults = {
  none: async () => {},
  'connection-churn': () => ask(`https://${env.SECURE}/${routes[1]}`, cost, fixed ? keptSecure : churning),
  async 'n-plus-one'() {
    for (let n = fixed ? 1 : 2 + Math.floor(Math.random() * many); n > 0; n--) await asks(1, `/${1000 + n}`);
  },
  async 'serial-calls'() {
    if (fixed) return void await Promise.all([1, 2, 3].map((i) => asks(i)));
    for (const i of shuffled([1, 2, 3])) await asks(i);
  },
  'slow-peer': () => ask(`http://${env.UPSTREAM}/${routes[1]}`, 1000 + (!fixed && Math.random() < 0.2 ? 5 * cost : 0)),
  async 'credential-fetch'() {
    if (fixed && token) return;
    token = true;
    await ask(`http://${env.UPSTREAM}/oauth2/token`, cost, kept, 'POST');
  },
  'pool-exhausted': () => asks(1, '', fixed ? kept : small),
  'sleep-retry': async () => { if (!fixed) await sleep(vary(cost)); },
  'event-loop-blocked': async () => { if (!fixed && Math.random() < 0.05) digestThing(vary(10 * cost)); },
  'cpu-bound': async () => { if (!fixed) digestThing(vary(cost)); },
  async disk() {
    const file = await fs.promises.open(`/tmp/faulty-${process.pid}.journal`, 'a');
    await file.write(Buffer.alloc(512));
    if (!fixed) await file.sync();
    await file.close();
  },
  'child-process': () => fixed ? undefined : new Promise((done) => execFile('/bin/true', done)),
  async 'sync-telemetry'() {
    for (let i = 0; i < many && !fixed; i++) metrics.send(`thing.step${i}:1|c`, portOf(env.STATSD), '127.0.0.1');
  },
  async 'linear-scan'() {
    for (let i = 0; i < many; i++) {
      const key = `thing-${known.size}`;
      known.set(key, i);
      if (!fixed) things.push(key);
    }
    if (!fixed) findThing('nobody');
  },
  async 'slow-dns'() {
    if (!fixed) await resolver.resolve4(`${routes[1]}.thing.test`);
    await ask(`http://${env.UPSTREAM}/${routes[1]}`, 1000);
  },
  async 'tls-handshake'() {
    const at = `127.7.${Math.floor(hosts / 200) % 200}.${hosts++ % 200 + 1}`;
    await ask(fixed ? `http://${at}:${portOf(env.UPSTREAM)}/${routes[1]}` : `https://${at}:${portOf(env.SECURE)}/${routes[1]}`, 500, fixed ? new http.Agent() : churning);
  },
};
const metrics = dgram.createSocket('udp4').unref();
const resolver = new dns.promises.Resolver();
if (env.DNS) resolver.setServers([env.DNS]);

let served = 0, spent = 0; // requests, and ms in the fault or what stands in its place
async function serveThing(req, res) {
  if (req.url === '/cost') return void res.end(`${served} ${Math.round(spent * 1e6)}\n`);
  priceThing(vary(Number(env.OWN_CPU)));
  await ask(`http://${env.UPSTREAM}/${routes[0]}`, Number(env.OWN_CALL));
  const begun = performance.now();
  await faults[env.FAULT]();
  spent += performance.now() - begun;
  served++;
  res.end('ok\n');
}

const server = http.createServer((req, res) => serveThing(req, res).catch((e) => { console.error(e); res.statusCode = 500; res.end(); }));
server.keepAliveTimeout = 300000;
server.listen(Number(env.PORT), '127.0.0.1', 1024, () => console.log('ready'));
