// Its init never returns, and hears no signal but the last.
process.on('SIGTERM', () => {})

export function init() {
  for (;;) {
    // Busy for ever.
  }
}
