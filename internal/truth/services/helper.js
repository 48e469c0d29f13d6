// A Node service whose workers (threads) run a program for each request; with FIXED=1 they do not.
// PORT is in the environment.
'use strict'
const http = require('http')
const { execSync } = require('child_process')
const { Worker, isMainThread, parentPort } = require('worker_threads')

const thumbnail = () => (process.env.FIXED === '1' ? 'ok\n' : execSync('sleep 0.03; echo ok').toString())

function serve () {
  const waiting = new Map()
  let id = 0
  const workers = Array.from({ length: 4 }, () => new Worker(__filename))
  for (const w of workers) {
    w.on('message', m => {
      waiting.get(m.id)(m.body)
      waiting.delete(m.id)
    })
  }
  http.createServer((req, res) => {
    waiting.set(++id, body => res.end(body))
    workers[id % workers.length].postMessage({ id })
  }).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'))
}

if (isMainThread) serve()
else parentPort.on('message', m => parentPort.postMessage({ id: m.id, body: thumbnail() }))
