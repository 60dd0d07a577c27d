// Writes values with superjson, a line each; then reads as many lines and tells which of
// them are not the same values.
import { deepStrictEqual } from 'node:assert'
import { createInterface } from 'node:readline'
import superjson from 'superjson'

const shared = { x: 1 }
const self = { type: 'self', list: [] }
self.list.push(self)
const cause = new TypeError('why')
const values = [
  { type: 'plain', data: { text: 'é\u2028"\\', list: [1, 1.5, -0.25, 1e21, 1e-7, true, null], empty: {}, none: [] } },
  { type: 'undefined', data: { a: undefined, list: [undefined, 1, undefined] }, metadata: { event: { parentId: undefined } } },
  { type: 'date', at: new Date(0), list: [new Date('2026-11-30T09:00:00.123Z'), new Date(-1)] },
  { type: 'numbers', list: [Number.NaN, Infinity, -Infinity, -0, 0], big: [0n, -1n, 2n ** 100n] },
  { type: 'map', map: new Map([['a', 1], [{ k: new Date(1) }, new Set([undefined, 'x'])]]), empty: new Map() },
  { type: 'set', set: new Set(['a', new Date(2), new Map([[1n, Number.NaN]])]), empty: new Set() },
  { type: 'texts', url: new URL('https://x.example/a%20b?q=1#f'), re: /a\/b[.]/gi },
  { type: 'error', error: new RangeError('no'), caused: new Error('outer', { cause }), list: [new Error('last')] },
  { type: 'typed', bytes: new Uint8Array([0, 255]), floats: new Float64Array([0.5, -2]), ints: new Int16Array([-3]) },
  { type: 'paths', 'a.b': new Date(3), 'c\\d': undefined, 'e\\.f': { 'g.h': 1n }, '': new Date(4), '0': undefined },
  { type: 'shared', first: shared, deeper: { second: shared, third: [shared] } },
  { type: 'sharedURL', list: (u => [u, u])(new URL('https://x.example/')) },
  { type: 'sharedDeep', ...(s => ({ a: s, b: { c: s } }))({ when: new Date(6), set: new Set([1]) }) },
  { type: 'sharedInMap', map: new Map([['a', shared], ['b', shared]]), set: new Set([shared]) },
  { type: 'twoShared', ...((a, b) => ({ p: a, q: b, r: [a, b] }))([1], { y: undefined }) },
  self,
]

for (const value of values)
  console.log(superjson.stringify(value))

let at = 0
for await (const line of createInterface({ input: process.stdin })) {
  try {
    deepStrictEqual(superjson.parse(line), superjson.parse(superjson.stringify(values[at])))
  }
  catch (error) {
    console.log(`${values[at].type}: ${error.message}`)
  }
  if (++at === values.length)
    break
}
console.log('over')
