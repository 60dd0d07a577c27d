export function init() {
  throw new Error('init exploded')
}
