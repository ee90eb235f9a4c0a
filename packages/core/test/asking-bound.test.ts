import t from 'tap'
import { ASKED_AT_ONCE, createAskingBound } from '../src/challenge/asking-bound.ts'

const MINUTE = 60_000

function admitted(bound: ReturnType<typeof createAskingBound>, address: string, now: number, tries = 20_000): number {
  return Array.from({ length: tries }, () => bound({ address }, now)).filter(Boolean).length
}

t.test('600 of one address at once, then twenty a second, whatever it asks beyond', async (t) => {
  const bound = createAskingBound()
  t.equal(admitted(bound, '203.0.113.7', 0), ASKED_AT_ONCE)
  t.equal(admitted(bound, '203.0.113.7', 1_000), 20, 'what was refused is not counted')
  t.equal(admitted(bound, '203.0.113.7', 1_000 + MINUTE), ASKED_AT_ONCE, '600 a minute are asked all day')
  t.equal(admitted(bound, '203.0.113.8', 1_000 + MINUTE), ASKED_AT_ONCE, 'its neighbour has its own')
})

t.test('the networks of one /48 of IPv6 have a bound together', async (t) => {
  const bound = createAskingBound()
  t.equal(admitted(bound, '2001:db8:1:1::1', 0), ASKED_AT_ONCE)
  t.equal(admitted(bound, '2001:db8:1:1::2', 0), 0, 'the same /64')
  let count = 0
  for (let net = 2; net < 12_000; net++) if (bound({ address: `2001:db8:1:${net.toString(16)}::1` }, 0)) count++
  t.equal(count, ASKED_AT_ONCE * 15)
  t.ok(bound({ address: '2001:db8:2::1' }, 0))
})

t.test('a client that is refused is not forgotten while others come', async (t) => {
  const bound = createAskingBound()
  admitted(bound, '203.0.113.7', 0)
  for (let at = 0; at < 50_000; at++) {
    bound({ address: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` }, 0)
    if (at % 1_000 === 0) t.notOk(bound({ address: '203.0.113.7' }, 0))
  }
})

t.test('twenty greedy networks of one /48 leave the last quarter to modest ones', async (t) => {
  const bound = createAskingBound()
  let count = 0
  for (let net = 1; net <= 20; net++) count += admitted(bound, `2001:db8:1:${net.toString(16)}::1`, 0, 1_000)
  t.ok(count <= ASKED_AT_ONCE * 16 * 0.75 + 20 * 60, `${count} of the twenty`)
  for (let net = 100; net < 300; net++) t.ok(bound({ address: `2001:db8:1:${net.toString(16)}::1` }, 0))
  let more = 0
  for (let net = 300; net < 9_000; net++) if (bound({ address: `2001:db8:1:${net.toString(16)}::1` }, 0)) more++
  t.equal(count + 200 + more, ASKED_AT_ONCE * 16, 'and the /48 has no more than before')
})

t.test('at a shared address each browser has a bound, and all have sixteen times as much', async (t) => {
  const bound = createAskingBound()
  const all = (browser: string, tries: number): number => {
    let count = 0
    for (let at = 0; at < tries; at++) if (bound({ address: '203.0.113.7', browser }, 0)) count++
    return count
  }
  t.equal(all('greedy', 2_000), ASKED_AT_ONCE)
  t.equal(all('other', 10), 10)
  let count = ASKED_AT_ONCE + 10
  for (let at = 0; at < 1_000; at++) count += all(`made up ${at}`, 100)
  t.equal(count, ASKED_AT_ONCE * 16, 'names of browsers are made up at will')
})
