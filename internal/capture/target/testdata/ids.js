// Prints the execution id and the last async id given out, then stops in the middle
// of that callback for ever, so that neither changes. The first argument is a number
// of worker threads to start before.
const { Worker, isMainThread } = require('worker_threads')
const { AsyncResource, executionAsyncId } = require('async_hooks')
const fs = require('fs')

function freeze() {
  const last = new AsyncResource('probe').asyncId()
  fs.writeSync(1, `${executionAsyncId()} ${last}\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

if (isMainThread) {
  let waiting = Number(process.argv[2])
  if (waiting === 0) setTimeout(freeze, 1)
  for (let i = waiting; i > 0; i--) {
    new Worker(__filename).on('online', () => { if (--waiting === 0) setTimeout(freeze, 1) })
  }
} else {
  setInterval(() => {}, 1000)
}
