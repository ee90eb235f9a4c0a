import { createCatalogue, createCrawlerVerifier, createReverseChecks } from '@sallyport/core'
import {
  createCrawlerRanges,
  createFakeClock,
  makeAddress,
  makeSnapshot,
  NOTHING_KNOWN,
  readPrefix,
} from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createDns } from '../../src/net/index.ts'
import { type NameServerOptions, openNameServer, type Reply } from './name-server.ts'

/* Claims of Googlebot against a real name server: what goes over the wire, and what a resolver makes of it. */

const IP = '203.0.114.9'
const NAME = 'crawl-203-0-114-9.googlebot.com'
const ALIAS = { through: 'shared.googlebot.com' }
const STATUS = { slug: 'googlebot', state: 'fresh', date: '2026-11-20' } as const
const SNAPSHOT = makeSnapshot(createCrawlerRanges([{ ...STATUS, prefixes: [readPrefix('66.249.64.0/27')] }]))

/** Outcome of a claim with PTR and A answered as given; `waited` is the question's time, in milliseconds. */
async function verifyClaim(
  t: Test,
  ptr: Reply,
  a: Reply | ((name: string) => Reply) = 'NXDOMAIN',
  options: NameServerOptions = {},
) {
  const server = await openNameServer(
    t,
    (type, name) => (type === 'PTR' ? ptr : type === 'AAAA' ? [] : typeof a === 'function' ? a(name) : a),
    options,
  )
  // Only what is no answer is waited for by the clock.
  const isSilent = ptr === 'silent' || a === 'silent' || typeof a === 'function' || options.changed !== undefined
  const timeoutMs = isSilent ? 300 : 30_000
  const dns = createDns({ servers: [server.address], timeoutMs, tries: 1 })
  const reverse = createReverseChecks({ clock: createFakeClock('2026-11-21T00:00:00Z'), dns })
  const catalogue = createCatalogue()
  const crawler = catalogue.find('googlebot')
  if (crawler === undefined) throw new TypeError(IP)
  const client = { address: makeAddress(IP), finding: NOTHING_KNOWN, snapshot: SNAPSHOT }
  const { judgement, hostname } = await createCrawlerVerifier(catalogue, { reverse }).verify(crawler, client)
  return { outcome: judgement.outcome, hostname, asked: server.asked }
}

const FORTY = Array.from({ length: 40 }, (_, index) => `crawl-${index}.googlebot.com`)
const oneSilent = (name: string) => (name.startsWith('crawl-1.') ? 'silent' : 'NXDOMAIN')

type Case = readonly [outcome: string, ptr: Reply, a: Parameters<typeof verifyClaim>[2], NameServerOptions?]
const CASES: Readonly<Record<string, Case>> = {
  'the name and the address agree': ['verified', [NAME], [IP]],
  'an alias is followed, of the address (RFC 2317) and of the name': ['verified', [NAME], [IP], ALIAS],
  'the name has another address behind an alias': ['spoofed', [NAME], ['203.0.114.10'], ALIAS],
  // No answer, an error or half an answer accuses nobody.
  'names that are cut off': ['unverifiable', FORTY, 'NXDOMAIN'],
  'silence for one name of several': ['unverifiable', FORTY.slice(0, 4), oneSilent],
}

t.test('a claim is judged by what a name server answers', async (t) => {
  for (const [what, [expected, ...asked]] of Object.entries(CASES)) {
    const { outcome, hostname } = await verifyClaim(t, ...asked)
    t.same([outcome, hostname], [expected, expected === 'verified' ? NAME : undefined], what)
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
