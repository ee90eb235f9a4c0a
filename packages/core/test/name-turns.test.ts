import t from 'tap'
import { parseNamePattern } from '../src/crawler/name-pattern.ts'
import { createLookup, createReverseChecks, createReverseNames } from '../src/index.ts'
import { createNameTurns, MAX_NAMES_AT_ONCE, MAX_NAMES_WAITING } from '../src/name-turns.ts'
import type { Dns } from '../src/ports/index.ts'
import { createFakeClock, createFakeWhois, makeAddress, makeSnapshots } from '../src/testing/index.ts'

const CLOCK = createFakeClock('2026-11-21T00:00:00Z')
const GOOGLE = [parseNamePattern('*.googlebot.com')]

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** DNS whose servers are a stranger's, who answers when he likes. */
function heldDns() {
  const held: (() => void)[] = []
  const answer = () => new Promise<{ state: 'absent' }>((resolve) => held.push(() => resolve({ state: 'absent' })))
  const dns: Dns = { resolve: answer, resolvePtr: answer }
  const release = async (): Promise<void> => {
    for (const go of held.splice(0)) go()
    await turn()
  }
  return { dns, held, release }
}

t.test('one client has four turns at a time, in order, and no more than some wait', async (t) => {
  const turns = createNameTurns()
  const held: (() => void)[] = []
  const began: number[] = []
  const run = (client: string, number: number) =>
    turns.run(client, () => {
      began.push(number)
      return new Promise<void>((resolve) => held.push(resolve))
    })
  const all = Array.from({ length: MAX_NAMES_AT_ONCE + MAX_NAMES_WAITING }, (_, number) => run('a', number))
  await turn()
  t.same(began, [0, 1, 2, 3])
  t.equal(turns.take('a'), undefined)
  await t.rejects(run('a', 99), { code: 'rate_limit_exceeded' })
  const other = run('b', 100)
  await turn()
  t.equal(began.at(-1), 100, 'another client is not held up')
  while (held.length > 0) {
    held.shift()?.()
    await turn()
  }
  await Promise.all([...all, other])
  const found = began.filter((number) => number < 99)
  t.same(found, [...all.keys()])
  const failing = turns.run('a', () => Promise.reject(new Error('failed')))
  await t.rejects(failing, /failed/)
  const free = Array.from({ length: MAX_NAMES_AT_ONCE }, () => turns.take('a'))
  t.notOk(free.includes(undefined), 'all places are back')
})

t.test('a network that claims to be a crawler from a thousand addresses holds four checks', async (t) => {
  const { dns, held, release } = heldDns()
  const checks = createReverseChecks({ clock: CLOCK, dns })
  const started = Array.from({ length: 100 }, (_, at) => checks.start(makeAddress(`2001:db8:1:${at}::1`), GOOGLE))
  await turn()
  t.equal(started.filter(Boolean).length, MAX_NAMES_AT_ONCE)
  t.equal(held.length, MAX_NAMES_AT_ONCE)
  t.equal(checks.start(makeAddress('66.249.66.1'), GOOGLE), true, 'and a crawler is checked meanwhile')
  await release()
  t.equal(checks.start(makeAddress('2001:db8:1:ff::1'), GOOGLE), true, 'then it may again')
  await release()
})

t.test('a caller who has checks made holds four, and those beyond what may wait could not run', async (t) => {
  const { dns, held, release } = heldDns()
  const checks = createReverseChecks({ clock: CLOCK, dns })
  const asked = Array.from({ length: 30 }, (_, at) => checks.ask(makeAddress(`198.51.100.${at}`), GOOGLE, 'caller'))
  await turn()
  t.equal(held.length, MAX_NAMES_AT_ONCE)
  const other = checks.ask(makeAddress('203.0.113.1'), GOOGLE, 'other')
  await turn()
  t.equal(held.length, MAX_NAMES_AT_ONCE + 1)
  while (held.length > 0) await release()
  const found = await Promise.all(asked)
  t.equal(found.filter((finding) => finding === undefined).length, 30 - MAX_NAMES_AT_ONCE - MAX_NAMES_WAITING)
  t.equal((await other)?.status, 'refuted')
  const again = checks.ask(makeAddress('198.51.100.29'), GOOGLE, 'caller')
  await turn()
  await release()
  t.equal((await again)?.status, 'refuted', 'what could not run is not remembered')
})

t.test('a caller who looks up hostnames holds four, a program in this process any number', async (t) => {
  const { dns, held, release } = heldDns()
  const lookup = createLookup({ clock: CLOCK, dns, snapshots: makeSnapshots(), whois: createFakeWhois({}) })
  const asked = Array.from({ length: 30 }, (_, at) => lookup.lookup(`h${at}.example.com`, 'caller'))
  const codes = Promise.all(asked.map((asking) => asking.then(String, ({ code }) => code)))
  await turn()
  t.equal(held.length, MAX_NAMES_AT_ONCE)
  t.equal((await lookup.lookup('192.0.2.1', 'caller')).target.ip, '192.0.2.1', 'an address waits for nobody')
  const own = Array.from({ length: 10 }, (_, at) => lookup.lookup(`h${at}.example.com`).catch(() => undefined))
  await turn()
  t.equal(held.length, MAX_NAMES_AT_ONCE + 10)
  while (held.length > 0) await release()
  await Promise.all(own)
  const admitted = MAX_NAMES_AT_ONCE + MAX_NAMES_WAITING
  t.same((await codes).slice(0, admitted), Array(admitted).fill('unresolved_target'))
  t.same((await codes).slice(admitted), Array(30 - admitted).fill('rate_limit_exceeded'))
})

t.test('the names of visitors: a network does not fill the queue', async (t) => {
  const { dns, held, release } = heldDns()
  const names = createReverseNames({ clock: CLOCK, dns, store: { put: async () => {} }, onFault: t.error })
  const finding = { reserved: { reserved: false }, verdict: { classification: 'hosting' }, rule: 'none' } as never
  for (let at = 0; at < 1_000; at++) names.offer(makeAddress(`2001:db8:1:${at.toString(16)}::1`), finding)
  names.offer(makeAddress('203.0.113.9'), finding)
  await turn()
  t.equal(held.length, MAX_NAMES_AT_ONCE)
  await release()
  t.equal(held.length, 1, 'the other visitor is next')
  await release()
  await names.settled()
})
