import t from 'tap'
import { ASKED_AT_ONCE, createAskingBound } from '../src/challenge/asking-bound.ts'

const MINUTE = 60_000

/** How many of many are admitted at one moment. */
function admitted(bound: ReturnType<typeof createAskingBound>, address: string, now: number, tries = 20_000): number {
  let count = 0
  for (let at = 0; at < tries; at++) if (bound(address, now)) count++
  return count
}

t.test('600 of one address at once, then twenty a second, whatever it asks beyond', async (t) => {
  const bound = createAskingBound(64)
  t.equal(admitted(bound, '203.0.113.7', 0), ASKED_AT_ONCE)
  t.equal(admitted(bound, '203.0.113.7', 1_000), 20, 'what was refused is not counted')
  t.equal(admitted(bound, '203.0.113.7', 1_000 + MINUTE), ASKED_AT_ONCE)
  t.equal(admitted(bound, '203.0.113.8', 1_000 + MINUTE), ASKED_AT_ONCE, 'its neighbour has its own')
})

t.test('people behind one address who ask 600 times a minute are all asked, all day', async (t) => {
  const bound = createAskingBound(64)
  let refused = 0
  for (let minute = 0; minute < 60; minute++) {
    for (let at = 0; at < 600; at++) if (!bound('203.0.113.7', minute * MINUTE)) refused++
  }
  t.equal(refused, 0)
})

t.test('the networks of one /48 of IPv6 have a bound together', async (t) => {
  const bound = createAskingBound(64)
  t.equal(admitted(bound, '2001:db8:1:1::1', 0), ASKED_AT_ONCE)
  t.equal(admitted(bound, '2001:db8:1:1::2', 0), 0, 'the same /64')
  let count = 0
  for (let net = 2; net < 12_000; net++) if (bound(`2001:db8:1:${net.toString(16)}::1`, 0)) count++
  t.equal(count, ASKED_AT_ONCE * 15)
  t.ok(bound('2001:db8:2::1', 0))
})

t.test('a client that is refused is not forgotten while others come', async (t) => {
  const bound = createAskingBound(64)
  admitted(bound, '203.0.113.7', 0)
  for (let at = 0; at < 50_000; at++) {
    bound(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, 0)
    if (at % 1_000 === 0) t.notOk(bound('203.0.113.7', 0))
  }
})
