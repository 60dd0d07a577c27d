// fan makes `calls` calls, `flight` of them at once, and tells how long each took. say
// sends a text, and returns the one that comes back.
export async function fan({ calls = 1, flight = 1, size = 0 }, say) {
  const text = 'x'.repeat(size)
  const took = []
  let left = calls
  await Promise.all(Array.from({ length: Math.min(flight, calls) }, async () => {
    while (left-- > 0) {
      const asked = process.hrtime.bigint()
      const back = await say(text)
      took.push(Number(process.hrtime.bigint() - asked) / 1e3)
      if (back !== text) {
        throw new Error(`expected ${size} characters back, got ${JSON.stringify(back)}`)
      }
    }
  }))
  took.sort((a, b) => a - b)
  return { calls: took.length, p50Micros: took[took.length >> 1] ?? 0 }
}
