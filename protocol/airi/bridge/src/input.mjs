// A request stream of the host's on its way into a handler.

// What a handler has not read of a stream waits here, up to so many bytes; then the
// handler finds the stream failed.
const MAX_UNREAD = 64 * 1024 * 1024

// createInput returns {open, push, end, fail}. Every handler of the tag opens a
// ReadableStream of its own, as it would have with Eventa. One that reads no further
// loses nothing but what still comes.
export function createInput() {
  const streams = new Set()
  let size = 0
  let finish

  function open() {
    let stream
    return new ReadableStream({
      start(controller) {
        stream = controller
        finish === undefined ? streams.add(stream) : finish(stream)
      },
      cancel: () => streams.delete(stream),
    }, { highWaterMark: MAX_UNREAD, size: () => size })
  }

  // push takes an item, and how many bytes it came in.
  function push(item, bytes) {
    size = bytes
    for (const stream of streams) {
      if (stream.desiredSize >= bytes) {
        stream.enqueue(item)
        continue
      }
      streams.delete(stream)
      stream.error(new RangeError(`more than ${MAX_UNREAD} bytes of the request stream are unread`))
    }
  }

  function close(how) {
    finish ??= how
    for (const stream of streams) {
      finish(stream)
    }
    streams.clear()
  }

  return {
    open,
    push,
    end: () => close(stream => stream.close()),
    fail: error => close(stream => stream.error(error)),
  }
}
