// Builds dist/ from src/ and writes NOTICE. The result depends on the sources and
// on package-lock.json alone, byte for byte.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { build } from 'esbuild'

const here = name => new URL(name, import.meta.url)
const json = async name => JSON.parse(await readFile(here(name), 'utf8'))
const bundled = ['@moeru/eventa', 'nanoid', 'picomatch']

// These two are modules of their own in dist/: a plugin's imports lead to them,
// and it has to meet the same instance there as the bridge uses.
const apart = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/(eventa|sdk)\.mjs$/ }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path, external: true })
  },
}

async function notice() {
  const parts = ['The files in dist/ contain these packages.\n']
  for (const name of bundled) {
    const { version } = await json(`node_modules/${name}/package.json`)
    const licence = await readFile(here(`node_modules/${name}/LICENSE`), 'utf8')
    parts.push(`${name} ${version}\n\n${licence.replaceAll('\r\n', '\n').trim()}\n`)
  }
  return parts.join(`\n${'-'.repeat(72)}\n\n`)
}

const { version } = await json('package.json')
await rm(here('dist'), { recursive: true, force: true })
await build({
  absWorkingDir: new URL('.', import.meta.url).pathname,
  entryPoints: ['bridge', 'hooks', 'sdk', 'eventa'].map(name => `./src/${name}.mjs`),
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.6',
  charset: 'utf8',
  legalComments: 'none',
  define: { BRIDGE_VERSION: JSON.stringify(version) },
  plugins: [apart],
})
await writeFile(here('NOTICE'), await notice())
