import {
  createCatalogue,
  createCrawlerVerifier,
  createReverseChecks,
  parseAddress,
  parsePrefix,
  type Snapshot,
} from '@sallyport/core'
import { createCrawlerRanges, createFakeClock, makeSnapshot, NOTHING_KNOWN } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createDns } from '../../src/net/index.ts'
import { type NameServerOptions, openNameServer, type Reply } from './name-server.ts'

/* Claims of Googlebot against a real name server: what goes over the wire, and what a resolver makes of it. */

const IP = '203.0.114.9'
const NAME = 'crawl-203-0-114-9.googlebot.com'
const SNAPSHOT: Snapshot = makeSnapshot(
  createCrawlerRanges([
    {
      slug: 'googlebot',
      state: 'fresh',
      date: '2026-11-20',
      prefixes: [parsePrefix('66.249.64.0/27')].flatMap((prefix) => prefix ?? []),
    },
  ]),
)

/** Outcome of a claim with PTR and A answered as given; `waited` is the question's time, in milliseconds. */
async function verifyClaim(
  t: Test,
  ptr: Reply,
  a: Reply | ((name: string) => Reply) = 'NXDOMAIN',
  options: NameServerOptions = {},
) {
  const server = await openNameServer(
    (type, name) => (type === 'PTR' ? ptr : type === 'AAAA' ? [] : typeof a === 'function' ? a(name) : a),
    options,
  )
  t.teardown(server.close)
  // Only what is no answer is waited for by the clock.
  const isSilent = ptr === 'silent' || a === 'silent' || typeof a === 'function' || options.changed !== undefined
  const timeoutMs = isSilent ? 300 : 30_000
  const dns = createDns({ servers: [server.address], timeoutMs, tries: 1 })
  const reverse = createReverseChecks({ clock: createFakeClock('2026-11-21T00:00:00Z'), dns })
  const catalogue = createCatalogue()
  const crawler = catalogue.find('googlebot')
  const address = parseAddress(IP)
  if (crawler === undefined || address === undefined) throw new TypeError(IP)
  const { judgement, hostname } = await createCrawlerVerifier(catalogue, { reverse }).verify(crawler, {
    address,
    finding: NOTHING_KNOWN,
    snapshot: SNAPSHOT,
  })
  return { outcome: judgement.outcome, hostname, asked: server.asked }
}

const LOOK_ALIKES = ['crawl.evilgooglebot.com', 'googlebot.com.attacker.example', 'googlebot.com']
const ODD = ['a b.googlebot.com', '<script>.googlebot.com', 'crawl_1.googlebot.com', 'é.googlebot.com']
const FORTY = Array.from({ length: 40 }, (_, index) => `crawl-${index}.googlebot.com`)

t.test('the name and the address agree', async (t) => {
  t.match(await verifyClaim(t, [NAME], [IP]), { outcome: 'verified', hostname: NAME })
})

t.test('the name lies: it has another address, or none, or is not there', async (t) => {
  for (const a of [['203.0.114.10'], [], 'NXDOMAIN'] as const) {
    t.match(await verifyClaim(t, [NAME], a), { outcome: 'spoofed', hostname: undefined })
  }
})

t.test('there is no name', async (t) => {
  t.equal((await verifyClaim(t, 'NXDOMAIN')).outcome, 'spoofed')
  t.equal((await verifyClaim(t, [])).outcome, 'spoofed')
})

t.test('look-alike names and odd bytes are never followed', async (t) => {
  for (const name of [...LOOK_ALIKES, ...ODD]) {
    const { outcome, asked } = await verifyClaim(t, [name], [IP])
    t.equal(outcome, 'spoofed', name)
    t.equal(asked.length, 1, 'nothing is asked of such a name')
  }
})

/** A stand-in for one byte that an encoder of names would not write as part of a label. */
const HOLE = '~'
const HEADER_BYTES = 12

t.test('bytes that no host name has are never followed: a dot within a label, NUL, a line, beyond ASCII', async (t) => {
  for (const byte of [0x2e, 0x00, 0x0a, 0x5c, 0xff]) {
    // Behind the header, whose id is drawn and may have the same byte.
    const changed = (answer: Buffer) =>
      answer.map((own, at) => (at >= HEADER_BYTES && own === HOLE.charCodeAt(0) ? byte : own)) as Buffer
    const { outcome, asked } = await verifyClaim(t, [`crawl${HOLE}x.googlebot.com`], [IP], { changed })
    t.equal(outcome, 'spoofed', String(byte))
    t.equal(asked.length, 1, 'nothing is asked of such a name')
  }
})

t.test('an alias is followed, of the address (RFC 2317) and of the name', async (t) => {
  t.match(await verifyClaim(t, [NAME], [IP], { through: 'shared.googlebot.com' }), {
    outcome: 'verified',
    hostname: NAME,
  })
  t.match(await verifyClaim(t, [NAME], ['203.0.114.10'], { through: 'shared.googlebot.com' }), { outcome: 'spoofed' })
})

t.test('an answer to another question, or none that can be read, is no answer', async (t) => {
  const otherId = (answer: Buffer) => Buffer.concat([Buffer.of((answer[0] as number) ^ 255), answer.subarray(1)])
  const cut = (answer: Buffer) => answer.subarray(0, -5)
  for (const changed of [otherId, cut, () => Buffer.from('no DNS at all')]) {
    for (const ptr of [[NAME], 'NXDOMAIN'] as const) {
      t.equal((await verifyClaim(t, ptr, [IP], { changed })).outcome, 'unverifiable', String(ptr))
    }
  }
})

t.test('ten of forty names are followed', async (t) => {
  const { outcome, asked } = await verifyClaim(t, FORTY, 'NXDOMAIN', { overTcp: true })
  t.equal(outcome, 'spoofed')
  t.equal(asked.filter((question) => question.startsWith('A ')).length, 10)
})

t.test('no answer, an error or half an answer accuses nobody', async (t) => {
  for (const ptr of ['SERVFAIL', 'REFUSED', 'silent', FORTY] as const) {
    t.equal((await verifyClaim(t, ptr)).outcome, 'unverifiable', String(ptr).slice(0, 20))
  }
  for (const a of ['SERVFAIL', 'REFUSED', 'silent'] as const) {
    t.equal((await verifyClaim(t, [NAME], a)).outcome, 'unverifiable', a)
  }
  const oneSilent = (name: string) => (name.startsWith('crawl-1.') ? 'silent' : 'NXDOMAIN')
  t.equal((await verifyClaim(t, FORTY.slice(0, 4), oneSilent)).outcome, 'unverifiable', 'one of several')
})
