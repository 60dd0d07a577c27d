// Ends its process when it should begin.
export function init() {
  process.exit(3)
}
