// A Node service that reads flags from a peer that speaks as Redis does (PEER, its port), while a
// consumer waits there for jobs, on the same connection; with FIXED=1 on one of its own.
'use strict';
const http = require('node:http');
const net = require('node:net');

class Client {
  constructor() {
    this.waiting = []; // who asked, in the order of the answers
    this.socket = net.connect(Number(process.env.PEER), '127.0.0.1').setNoDelay();
    this.socket.on('data', (data) => {
      for (let at = 0, text = data.toString(); at < text.length;) {
        const end = text[at] === '$' ? text.indexOf('\r\n', text.indexOf('\r\n', at) + 2) : text.indexOf('\r\n', at);
        this.waiting.shift()(text.slice(at, end));
        at = end + 2;
      }
    });
  }

  ask(...words) {
    this.socket.write(`*${words.length}\r\n` + words.map((w) => `$${w.length}\r\n${w}\r\n`).join(''));
    return new Promise((done) => this.waiting.push(done));
  }
}

const client = new Client();
const jobs = process.env.FIXED === '1' ? new Client() : client;
(async () => {
  for (;;) await jobs.ask('BRPOP', 'jobs', '0.1');
})();
http.createServer(async (req, res) => {
  await client.ask('GET', 'flags');
  res.end('ok\n');
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
