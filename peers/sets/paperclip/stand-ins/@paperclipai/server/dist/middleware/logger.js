// Stands in for the server's logger: records go to whoever listens on the process
// for "peers:log", else nowhere.
function make(bindings) {
  const logger = { child: (more) => make({ ...bindings, ...more }) }
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal']) {
    logger[level] = (...args) => process.emit('peers:log', level, bindings, args)
  }
  return logger
}

export const logger = make({})
