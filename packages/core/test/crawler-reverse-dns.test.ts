import t from 'tap'
import { formatAddress } from '../src/address/address.ts'
import { parseNamePattern } from '../src/crawler/name-pattern.ts'
import { createReverseChecks, MAX_CONCURRENT, MAX_QUEUED, TTL_MS } from '../src/crawler/reverse-checks.ts'
import { checkReverseDns } from '../src/crawler/reverse-dns.ts'
import type { Dns, KeptReverseCheck, NameAnswer, ReverseAnswer } from '../src/ports/index.ts'
import { createFakeClock, createFakeDns, makeAddress } from '../src/testing/fakes.ts'
import { splitWords } from './support.ts'

const IP = '66.249.66.1'
const GOOGLE = [parseNamePattern('*.googlebot.com')]

const found = (...texts: readonly string[]): NameAnswer => ({ state: 'found', addresses: texts.map(makeAddress) })
const named = (...names: readonly string[]): ReverseAnswer => ({ state: 'found', names })
const FAILED = { state: 'failed', reason: 'ETIMEOUT' } as const

function check(reverse: ReverseAnswer, names: Readonly<Record<string, NameAnswer>>, ip = IP, patterns = GOOGLE) {
  return checkReverseDns(createFakeDns(names, { [ip]: reverse }), makeAddress(ip), patterns)
}

const MINE = 'crawl-66-249-66-1.googlebot.com'

t.test('confirmed forward, to the same bytes', async (t) => {
  const passed = { status: 'passed', hostname: MINE }
  t.match(await check(named(MINE), { [MINE]: found(IP) }), passed)
  t.match(await check(named(`${MINE}.`), { [MINE]: found(IP) }), passed, 'a final dot')
  t.match(await check(named(MINE.toUpperCase()), { [MINE]: found(IP) }), passed, 'another case')
  t.match(await check(named(MINE), { [MINE]: found('8.8.8.8', IP) }), passed, 'one of several')
  t.match(await check(named('other.example.net', MINE), { [MINE]: found(IP) }), passed, 'behind another name')
  t.match(await check(named(MINE), { [MINE]: found('::ffff:66.249.66.1') }), passed, 'the mapped form')
  const six = '2001:4860:4801:10::7f'
  t.match(await check(named(MINE), { [MINE]: found('2001:4860:4801:0010:0:0:0:7f') }, six), passed)
  t.match(await check(named(MINE), { [MINE]: found('2001:4860:4801:10::7e') }, six), { status: 'refuted' })
})

t.test('names that only look like it, or are no host names, count for nothing', async (t) => {
  const odd = splitWords(`
    evilgooglebot.com crawl.evilgooglebot.com googlebot.com .googlebot.com crawl.googlebot.com.evil.example
    <script>.googlebot.com crawl\\.googlebot.com crawl_1.googlebot.com -crawl.googlebot.com crawl..googlebot.com
    crawlé.googlebot.com
  `)
  const long = [`${'a'.repeat(64)}.googlebot.com`, `${'a.'.repeat(130)}googlebot.com`]
  for (const name of [...odd, ...long, '', 'a b.googlebot.com', 'xn--crawl\u0000.googlebot.com']) {
    const answer = await check(named(name), { [name]: found(IP) })
    t.equal(answer.status, 'refuted', name.slice(0, 40))
  }
  const special = [parseNamePattern('rate-limited-proxy-*.google.com')]
  const good = 'rate-limited-proxy-66-249-90-77.google.com'
  const others = splitWords('rate-limited-proxy-.google.com evil-rate-limited-proxy-1.google.com mail.google.com')
  for (const name of [good, ...others]) {
    const { status } = await check(named(name), { [name]: found(IP) }, IP, special)
    t.equal(status, name === good ? 'passed' : 'refuted', name)
  }
})

t.test('a pattern of names has one star, on a label boundary, before two labels or more', async (t) => {
  for (const text of ['googlebot.com', '*googlebot.com', '*.com', '*.*.googlebot.com', '*.googlebot.com.', '*', ''])
    t.throws(() => parseNamePattern(text), TypeError, text)
})

/** DNS that answers on demand, and counts those that wait. */
function heldDns() {
  const waiting: (() => void)[] = []
  const asked: string[] = []
  const dns: Dns = {
    resolve: async () => ({ state: 'absent' }),
    resolvePtr: (address) =>
      new Promise((resolve) => {
        asked.push(formatAddress(address))
        waiting.push(() => resolve({ state: 'absent' }))
      }),
  }
  const release = (): void => {
    for (const go of waiting.splice(0)) go()
  }
  return { dns, asked, waiting, release }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('an answer stands for its time: a day, ten minutes, a minute', async (t) => {
  for (const [status, dns] of [
    ['passed', createFakeDns({ [MINE]: found(IP) }, { [IP]: named(MINE) })],
    ['refuted', createFakeDns({})],
    ['could-not-run', createFakeDns({}, { [IP]: FAILED })],
  ] as const) {
    const clock = createFakeClock('2026-11-21T00:00:00Z')
    const checks = createReverseChecks({ clock, dns })
    t.equal(checks.known(makeAddress(IP), GOOGLE), undefined)
    t.equal((await checks.ask(makeAddress(IP), GOOGLE))?.status, status)
    clock.advance(TTL_MS[status] - 1)
    t.equal(checks.known(makeAddress(IP), GOOGLE)?.status, status)
    clock.advance(1)
    t.equal(checks.known(makeAddress(IP), GOOGLE), undefined, status)
  }
  t.same(TTL_MS, { passed: 86_400_000, refuted: 600_000, 'could-not-run': 60_000 })
})

t.test('nothing but the same address and the same names reaches a remembered answer', async (t) => {
  const dns = createFakeDns({ [MINE]: found(IP) }, { [IP]: named(MINE) })
  const checks = createReverseChecks({ clock: createFakeClock('2026-11-21T00:00:00Z'), dns })
  await checks.ask(makeAddress(IP), GOOGLE)
  t.ok(checks.known(makeAddress(IP), GOOGLE))
  t.ok(checks.known(makeAddress(`::ffff:${IP}`), [parseNamePattern('*.googlebot.com')]), 'the same, written otherwise')
  t.notOk(checks.known(makeAddress('66.249.66.2'), GOOGLE))
  t.notOk(checks.known(makeAddress(IP), [...GOOGLE, parseNamePattern('*.search.msn.com')]))
})

t.test('at most 50 ask at once, 1,000 wait, and the next could not run', async (t) => {
  const held = heldDns()
  const finished: KeptReverseCheck[] = []
  const checks = createReverseChecks({
    clock: createFakeClock('2026-11-21T00:00:00Z'),
    dns: held.dns,
    onFinished: (done) => finished.push(done),
  })
  const total = MAX_CONCURRENT + MAX_QUEUED
  t.same([MAX_CONCURRENT, MAX_QUEUED], [50, 1000])
  const numbered = (index: number) => makeAddress(`8.${index >> 16}.${(index >> 8) & 255}.${index & 255}`)
  const all = Array.from({ length: total }, (_, index) => checks.ask(numbered(index), GOOGLE))
  await turn()
  t.equal(held.asked.length, 50)
  t.equal(checks.ask(numbered(total), GOOGLE), undefined)
  t.equal(checks.known(numbered(total), GOOGLE), undefined, 'an overflow is not remembered')
  t.equal(checks.ask(numbered(total - 1), GOOGLE), all[total - 1], 'who waits already goes on waiting')
  for (let round = 0; round < total / MAX_CONCURRENT; round++) {
    t.ok(held.waiting.length <= MAX_CONCURRENT)
    held.release()
    await turn()
  }
  t.same(new Set((await Promise.all(all)).map((finding) => finding?.status)), new Set(['refuted']))
  t.equal(finished.length, total)
  const late = checks.ask(numbered(total), GOOGLE)
  await turn()
  held.release()
  t.equal((await late)?.status, 'refuted', 'there is room again')
})

t.test('a result kept before a restart is taken up while it is valid', async (t) => {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const dns = createFakeDns({ [MINE]: found(IP) }, { [IP]: named(MINE) })
  const kept: KeptReverseCheck[] = []
  await createReverseChecks({ clock, dns, onFinished: (done) => kept.push(done) }).ask(makeAddress(IP), GOOGLE)
  const restart = () => {
    const checks = createReverseChecks({ clock, dns: heldDns().dns })
    checks.remember(kept)
    return checks.known(makeAddress(IP), GOOGLE)
  }
  t.match(restart(), { status: 'passed', hostname: MINE })
  clock.advance(TTL_MS.passed)
  t.equal(restart(), undefined)
})
