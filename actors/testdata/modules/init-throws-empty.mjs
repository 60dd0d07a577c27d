export function init() {
  throw new Error('')
}
