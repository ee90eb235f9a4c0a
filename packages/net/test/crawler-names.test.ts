import {
  createCatalogue,
  createCrawlerRanges,
  createCrawlerVerifier,
  createReverseChecks,
  NOTHING_KNOWN,
  parseAddress,
  type Snapshot,
} from '@sallyport/core'
import { createFakeClock, snapshotOf } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createDns } from '../src/index.ts'
import { openNameServer, type Reply } from './name-server.ts'

/* Claims of Googlebot against a real name server: what goes over the wire, and what a resolver makes of it. */

const IP = '203.0.114.9'
const NAME = 'crawl-203-0-114-9.googlebot.com'
const SNAPSHOT: Snapshot = snapshotOf(
  createCrawlerRanges([{ slug: 'googlebot', state: 'fresh', date: '2026-11-20', prefixes: [] }]),
)

/** What comes of a claim where PTR and A are answered as given; `waited` is what the question took, in milliseconds. */
async function claimOf(t: Test, ptr: Reply, a: Reply | ((name: string) => Reply) = 'NXDOMAIN', overTcp = false) {
  const server = await openNameServer(
    (type, name) => (type === 'PTR' ? ptr : type === 'AAAA' ? [] : typeof a === 'function' ? a(name) : a),
    { overTcp },
  )
  t.teardown(server.close)
  const dns = createDns({ servers: [server.address], timeoutMs: 300, tries: 1 })
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
  t.match(await claimOf(t, [NAME], [IP]), { outcome: 'verified', hostname: NAME })
})

t.test('the name lies: it has another address, or none, or is not there', async (t) => {
  for (const a of [['203.0.114.10'], [], 'NXDOMAIN'] as const) {
    t.match(await claimOf(t, [NAME], a), { outcome: 'spoofed', hostname: undefined })
  }
})

t.test('there is no name', async (t) => {
  t.equal((await claimOf(t, 'NXDOMAIN')).outcome, 'spoofed')
  t.equal((await claimOf(t, [])).outcome, 'spoofed')
})

t.test('look-alike names and odd bytes are never followed', async (t) => {
  for (const name of [...LOOK_ALIKES, ...ODD]) {
    const { outcome, asked } = await claimOf(t, [name], [IP])
    t.equal(outcome, 'spoofed', name)
    t.equal(asked.length, 1, 'nothing is asked of such a name')
  }
})

t.test('of forty names ten are followed', async (t) => {
  const { outcome, asked } = await claimOf(t, FORTY, 'NXDOMAIN', true)
  t.equal(outcome, 'spoofed')
  t.equal(asked.filter((question) => question.startsWith('A ')).length, 10)
})

t.test('no answer, an error or half an answer accuses nobody', async (t) => {
  for (const ptr of ['SERVFAIL', 'REFUSED', 'silent', FORTY] as const) {
    t.equal((await claimOf(t, ptr)).outcome, 'unverifiable', String(ptr).slice(0, 20))
  }
  for (const a of ['SERVFAIL', 'REFUSED', 'silent'] as const) {
    t.equal((await claimOf(t, [NAME], a)).outcome, 'unverifiable', a)
  }
  const oneSilent = (name: string) => (name.startsWith('crawl-1.') ? 'silent' : 'NXDOMAIN')
  t.equal((await claimOf(t, FORTY.slice(0, 4), oneSilent)).outcome, 'unverifiable', 'one of several')
})
