import t from 'tap'
import { type Address, parseAddress } from '../src/address/address.ts'
import { type Prefix, parsePrefix } from '../src/address/prefix.ts'
import { type Crawler, createCatalogue } from '../src/crawler/catalogue.ts'
import { createCrawlerRanges, type RangeList } from '../src/crawler/ranges.ts'
import { createReverseChecks } from '../src/crawler/reverse-checks.ts'
import { createCrawlerVerifier } from '../src/crawler/verifier.ts'
import { classify } from '../src/network/classify.ts'
import type { NameAnswer, ReverseAnswer, Snapshot } from '../src/ports/index.ts'
import { createFakeClock, createFakeNetworks, snapshotOf, systemOf } from '../src/testing/fakes.ts'

/*
 * Every crawler of the catalogue, from a public address, over every way in which its list, its network and its name can
 * stand: what has to come of it is worked out here from the specification's rules alone.
 */

/** One source's word on a claim. */
type Word = 'yes' | 'no' | 'could not tell' | 'has no say'

const catalogue = createCatalogue()
const ADDRESS = addressOf('8.1.1.1')
const ELSEWHERE = addressOf('8.9.9.9')
const FAILED = { state: 'failed', reason: 'ESERVFAIL' } as const

function addressOf(text: string): Address {
  const address = parseAddress(text)
  if (address === undefined) throw new TypeError(text)
  return address
}

const prefixesOf = (text: string): readonly Prefix[] => [parsePrefix(text)].flatMap((prefix) => prefix ?? [])

const LISTS: Readonly<Record<string, { readonly list?: Omit<RangeList, 'slug'> | undefined; readonly word: Word }>> = {
  'fresh, with it': { list: { state: 'fresh', prefixes: prefixesOf('8.1.0.0/16') }, word: 'yes' },
  'fresh, without it': { list: { state: 'fresh', prefixes: prefixesOf('8.2.0.0/16') }, word: 'no' },
  'fresh, of the other family': { list: { state: 'fresh', prefixes: prefixesOf('2600::/16') }, word: 'could not tell' },
  'stale, with it': { list: { state: 'stale', prefixes: prefixesOf('8.1.0.0/16') }, word: 'yes' },
  'stale, without it': { list: { state: 'stale', prefixes: prefixesOf('8.2.0.0/16') }, word: 'could not tell' },
  missing: { list: { state: 'missing', prefixes: [] }, word: 'could not tell' },
  'never heard of': { word: 'could not tell' },
}

const SYSTEMS: Readonly<Record<string, { readonly asn?: number | 'own' | undefined; readonly word: Word }>> = {
  'the operator’s': { asn: 'own', word: 'yes' },
  'another’s': { asn: 64_501, word: 'no' },
  'not known': { asn: 0, word: 'could not tell' },
  'not loaded': { word: 'could not tell' },
}

const OTHER_NAME = 'line-7.telecom.example'
const NAMES: Readonly<Record<string, { ptr?: ReverseAnswer | undefined; a: NameAnswer; readonly word: Word }>> = {
  confirmed: { a: { state: 'found', addresses: [ELSEWHERE, ADDRESS] }, word: 'yes' },
  'a lie': { a: { state: 'found', addresses: [ELSEWHERE] }, word: 'no' },
  'of nothing': { a: { state: 'absent' }, word: 'no' },
  'not confirmed in time': { a: FAILED, word: 'could not tell' },
  'another’s': { ptr: { state: 'found', names: [OTHER_NAME] }, a: FAILED, word: 'no' },
  'not there': { ptr: { state: 'absent' }, a: FAILED, word: 'no' },
  'not answered': { ptr: FAILED, a: FAILED, word: 'could not tell' },
}

function snapshotWith(crawler: Crawler, list: Omit<RangeList, 'slug'> | undefined, asn: number | 'own' | undefined) {
  const slug = crawler.ranges ?? 'nobody'
  const number = asn === 'own' ? ([...crawler.asns][0] ?? 64_502) : asn
  return snapshotOf({
    ...(list !== undefined && createCrawlerRanges([{ slug, ...list }])),
    ...(number !== undefined && {
      networks: createFakeNetworks(number === 0 ? [] : [['8.1.0.0/16', { system: systemOf({ asn: number }) }]]),
    }),
  })
}

function verifierWith({ ptr, a }: (typeof NAMES)[string]) {
  const patterns = () => current.names.map(({ start, end }) => `${start}x1${end}`)
  let current = catalogue.crawlers[0] as Crawler
  const dns = {
    resolvePtr: async () => ptr ?? { state: 'found' as const, names: patterns() },
    resolve: async () => a,
  }
  const reverse = createReverseChecks({ clock: createFakeClock('2026-11-21T00:00:00Z'), dns })
  const verifier = createCrawlerVerifier(catalogue, { reverse })
  return (crawler: Crawler, snapshot: Snapshot) => {
    current = crawler
    return verifier.verify(crawler, { address: ADDRESS, finding: classify(ADDRESS, snapshot), snapshot })
  }
}

function outcomeOf(words: readonly Word[]): string {
  if (words.includes('yes')) return 'verified'
  return words.includes('could not tell') || !words.includes('no') ? 'unverifiable' : 'spoofed'
}

t.test('every crawler, list, network and name: the outcome is the specification’s', async (t) => {
  const seen = { verified: 0, spoofed: 0, unverifiable: 0 }
  for (const [nameIs, name] of Object.entries(NAMES)) {
    const verify = verifierWith(name)
    for (const crawler of catalogue.crawlers) {
      const sent = crawler.silent === undefined
      for (const [listIs, { list, word: ofList }] of Object.entries(LISTS)) {
        for (const [systemIs, { asn, word: ofSystem }] of Object.entries(SYSTEMS)) {
          const { judgement } = await verify(crawler, snapshotWith(crawler, list, asn))
          const ofName = name.word === 'no' && !crawler.namesRefute ? 'could not tell' : name.word
          // Customers run it too: what would refute could not tell.
          const said = (word: Word) => (crawler.selfHosted && word === 'no' ? 'could not tell' : word)
          const words: readonly Word[] = [
            sent ? 'has no say' : 'no',
            crawler.ranges === undefined ? 'has no say' : said(ofList),
            crawler.exclusive ? said(ofSystem) : 'has no say',
            crawler.names.length === 0 ? 'has no say' : said(ofName),
          ]
          const { outcome, checks } = judgement
          seen[outcome]++
          const what = `${crawler.slug}: list ${listIs}, system ${systemIs}, name ${nameIs}`
          if (outcome !== outcomeOf(words)) t.equal(outcome, outcomeOf(words), what)
          if (checks.length !== 4) t.equal(checks.length, 4, what)
          if (outcome !== 'spoofed') continue
          const ran = words.filter((word) => word !== 'has no say')
          const refuted = checks.filter(({ status }) => status === 'refuted')
          if (refuted.length !== ran.length) t.equal(refuted.length, ran.length, `${what}: all that apply ran`)
        }
      }
    }
  }
  t.ok(seen.verified > 1000 && seen.spoofed > 500 && seen.unverifiable > 1000, JSON.stringify(seen))
})
