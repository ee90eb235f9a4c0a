import t from 'tap'
import type { Address } from '../src/address/address.ts'
import { parseAddress } from '../src/address/address.ts'
import { parseNamePattern } from '../src/crawler/name-pattern.ts'
import { createReverseChecks } from '../src/crawler/reverse-checks.ts'
import { createLookup } from '../src/lookup/lookup.ts'
import { createNameTurns, MAX_NAMES_AT_ONCE, MAX_NAMES_WAITING, nameClient } from '../src/name-turns.ts'
import { createReverseNames } from '../src/network/reverse-names.ts'
import type { Dns } from '../src/ports/index.ts'
import { createFakeClock, createFakeWhois } from '../src/testing/index.ts'

const CLOCK = createFakeClock('2026-11-21T00:00:00Z')
const GOOGLE = [parseNamePattern('*.googlebot.com')]

const parse = (text: string): Address => parseAddress(text) as Address
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** DNS whose servers are a stranger's, who answers when he likes. */
function heldDns() {
  const held: (() => void)[] = []
  const dns: Dns = {
    resolve: () => new Promise((resolve) => held.push(() => resolve({ state: 'absent' }))),
    resolvePtr: () => new Promise((resolve) => held.push(() => resolve({ state: 'absent' }))),
  }
  const release = async (): Promise<void> => {
    for (const go of held.splice(0)) go()
    await turn()
  }
  return { dns, held, release }
}

t.test('a client is an address of IPv4 or a site of IPv6', async (t) => {
  t.equal(nameClient(parse('2001:db8:1:2::3')), nameClient(parse('2001:db8:1:ffff::')))
  t.not(nameClient(parse('2001:db8:1::')), nameClient(parse('2001:db8:2::')))
  t.not(nameClient(parse('192.0.2.1')), nameClient(parse('192.0.2.2')))
  t.equal(nameClient(undefined), '')
})

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
  t.same(
    began.filter((number) => number < 99),
    all.map((_, number) => number),
  )
  await t.rejects(
    turns.run('a', () => Promise.reject(new Error('failed'))),
    /failed/,
  )
  const free = Array.from({ length: MAX_NAMES_AT_ONCE }, () => turns.take('a'))
  t.notOk(free.includes(undefined), 'all places are back')
})

t.test('a network that claims to be a crawler from a thousand addresses holds four checks', async (t) => {
  const { dns, held, release } = heldDns()
  const checks = createReverseChecks({ clock: CLOCK, dns })
  const started = Array.from({ length: 100 }, (_, at) => checks.start(parse(`2001:db8:1:${at}::1`), GOOGLE))
  await turn()
  t.equal(started.filter(Boolean).length, MAX_NAMES_AT_ONCE)
  t.equal(held.length, MAX_NAMES_AT_ONCE)
  t.equal(checks.start(parse('66.249.66.1'), GOOGLE), true, 'and a crawler is checked meanwhile')
  await release()
  t.equal(checks.start(parse('2001:db8:1:ff::1'), GOOGLE), true, 'then it may again')
  await release()
})

t.test('a caller who has checks made holds four, and those beyond what may wait could not run', async (t) => {
  const { dns, held, release } = heldDns()
  const checks = createReverseChecks({ clock: CLOCK, dns })
  const asked = Array.from({ length: 30 }, (_, at) => checks.ask(parse(`198.51.100.${at}`), GOOGLE, 'caller'))
  await turn()
  t.equal(held.length, MAX_NAMES_AT_ONCE)
  const other = checks.ask(parse('203.0.113.1'), GOOGLE, 'other')
  await turn()
  t.equal(held.length, MAX_NAMES_AT_ONCE + 1)
  while (held.length > 0) await release()
  const found = await Promise.all(asked)
  t.equal(found.filter((finding) => finding === undefined).length, 30 - MAX_NAMES_AT_ONCE - MAX_NAMES_WAITING)
  t.equal((await other)?.status, 'refuted')
  const again = checks.ask(parse('198.51.100.29'), GOOGLE, 'caller')
  await turn()
  await release()
  t.equal((await again)?.status, 'refuted', 'what could not run is not remembered')
})

t.test('a caller who looks up hostnames holds four, a program in this process any number', async (t) => {
  const { dns, held, release } = heldDns()
  const snapshots = { current: () => ({ rangesLoaded: false, proxiesLoaded: false, sources: [] }) }
  const lookup = createLookup({ clock: CLOCK, dns, snapshots, whois: createFakeWhois({}) })
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
  t.same(
    (await codes).map((code) => code),
    [
      ...Array(MAX_NAMES_AT_ONCE + MAX_NAMES_WAITING).fill('unresolved_target'),
      ...Array(30 - MAX_NAMES_AT_ONCE - MAX_NAMES_WAITING).fill('rate_limit_exceeded'),
    ],
  )
})

t.test('the names of visitors: a network does not fill the queue', async (t) => {
  const { dns, held, release } = heldDns()
  const names = createReverseNames({ clock: CLOCK, dns, store: { put: async () => {} }, onFault: t.error })
  const finding = { reserved: { reserved: false }, verdict: { classification: 'hosting' }, rule: 'none' } as never
  for (let at = 0; at < 1_000; at++) names.offer(parse(`2001:db8:1:${at.toString(16)}::1`), finding)
  names.offer(parse('203.0.113.9'), finding)
  await turn()
  t.equal(held.length, MAX_NAMES_AT_ONCE)
  await release()
  t.equal(held.length, 1, 'the other visitor is next')
  await release()
  await names.settled()
})
