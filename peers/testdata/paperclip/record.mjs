// A worker's entrypoint that runs the worker beside it and keeps, byte for byte, what
// the worker reads and writes: received.ndjson and sent.ndjson in its directory. The
// bytes are seen where the streams take them over, so nothing is read earlier, later
// or in other pieces than without it, whichever host started the worker.
import { openSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))

// tee copies what passes through a method of a stream, before it does.
function tee(stream, method, file) {
  const fd = openSync(file, 'a', 0o600)
  const original = stream[method]
  stream[method] = function (chunk, ...rest) {
    if (chunk !== null && chunk !== undefined) writeSync(fd, typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    return original.call(this, chunk, ...rest)
  }
}

tee(process.stdin, 'push', here('received.ndjson'))
tee(process.stdout, 'write', here('sent.ndjson'))

// The SDK serves only the module that was started.
process.argv[1] = here('worker.js')
await import('./worker.js')
