import { openCounts } from '@sallyport/engine'

/* `node counting-process.js URL KIND EACH`: takes so often from a limit of as many a day, and tells how many passed. */
const [url = '', kind = '', each = ''] = process.argv.slice(2)
const max = Number(each)
const counts = await openCounts(url)
const limit = { kind: kind as 'fixed' | 'sliding' | 'bucket', max, windowMs: 86_400_000, refill: 1 }
/** So many are under way at one time. */
const WIDTH = 50
let left = max
let passed = 0
const lane = async (): Promise<void> => {
  while (left-- > 0) {
    const { states } = await counts.take([{ key: `all ${kind}`, cost: 1, max, limit, binding: true }], '')
    if (states[0]?.allowed) passed++
  }
}
await Promise.all(Array.from({ length: WIDTH }, lane))
process.send?.(passed)
await counts.close()
process.disconnect?.()
