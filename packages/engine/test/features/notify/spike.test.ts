import t from 'tap'
import { createSpikeWatch, SPAN_MS } from '../../../src/features/notify/spike.ts'

/** Counts of spans of five minutes, one after the other; returns the texts of what was raised, by span. */
function raisedBy(counts: readonly number[], parts = 1): readonly (readonly [span: number, text: string])[] {
  let time = 1_800_000_000_000
  const add = createSpikeWatch(() => time)
  return counts.flatMap((count, span) => {
    const raised: (readonly [number, string])[] = []
    for (let part = 0; part < parts; part++) {
      const event = count === 0 ? undefined : add(count / parts)
      if (event !== undefined) raised.push([span, event.text])
    }
    time += SPAN_MS
    return raised
  })
}

t.test('five times what is usual, and a hundred at least, is a spike, said once in its span', async (t) => {
  const quiet = Array(10).fill(20)
  t.same(raisedBy([...quiet, 400], 40), [
    [10, '100 requests were blocked or challenged within five minutes; the usual number is 20.'],
  ])
  t.same(raisedBy([...quiet, 99]), [], 'a small site has no spike of some dozens')
  const busy = Array(10).fill(1_000)
  t.same(raisedBy([...busy, 4_900]), [])
  t.match(raisedBy([...busy, 5_000]), [[10, /^5,000 requests .*; the usual number is 1000/]])
})

t.test('one attack does not become what is usual; nobody knows what is, soon after a start', async (t) => {
  t.same(raisedBy([9_000, 9_000, 9_000, 9_000]), [])
  const spans = raisedBy([...Array(10).fill(10), 5_000, 5_000, 5_000]).map(([span]) => span)
  t.same(spans, [10, 11, 12])
  t.match(raisedBy([0, 0, 0, 0, 0, 150]), [[5, /; the usual number is 0/]], 'spans without any refusal count as none')
})
