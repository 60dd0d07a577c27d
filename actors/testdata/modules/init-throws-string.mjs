export function init() {
  throw 'just a string'
}
