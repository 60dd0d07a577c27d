export function setupModules() {
  throw new Error('setupModules exploded')
}
