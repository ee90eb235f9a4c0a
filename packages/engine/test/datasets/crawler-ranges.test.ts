import { classify } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import { DATED_RANGES } from '@sallyport/data/crawlers'
import t from 'tap'
import { compileTables, loadTables } from '../../src/datasets/index.ts'
import { FACTS } from '../../src/datasets/service/facts.ts'
import { folder, madeSource, openTables } from './fixtures.ts'

t.test('an address is answered with every crawler that publishes a range around it', async (t) => {
  const dir = folder(t)
  const sources = [
    madeSource(dir, { id: 'one', kind: 'crawler', crawler: 'onebot' }, '23.0.0.0/16\n2a00:1::/48\n'),
    madeSource(dir, { id: 'two', kind: 'crawler', crawler: 'twobot' }, '23.0.7.0/24\n2a00:1:0:7::/64\n'),
    madeSource(dir, { id: 'three', kind: 'crawler', crawler: 'threebot' }, '2a00:3::/48\n'),
  ]
  const { path } = await compileTables({ dataDir: dir, sources })
  const { crawlerRanges, networks } = loadTables(path)
  const bots = ['onebot', 'twobot', 'threebot']
  const of = (text: string) => bots.filter((slug) => crawlerRanges?.holds(slug, makeAddress(text)))
  for (const text of ['23.0.7.0', '23.0.7.255', '2a00:1:0:7::1']) t.same(of(text), ['onebot', 'twobot'], text)
  for (const text of ['23.0.0.0', '23.0.8.0', '2a00:1::', '2a00:1:0:8::']) t.same(of(text), ['onebot'], text)
  for (const text of ['22.255.255.255', '23.1.0.0', '2a00:2::', '::']) t.same(of(text), [], text)
  const families = (slug: string) => ([4, 6] as const).filter((family) => crawlerRanges?.covers(slug, family))
  t.same(['onebot', 'threebot', 'nobot'].map(families), [[4, 6], [6], []], 'each covers the families of its lists')
  t.equal(networks, undefined, 'a list without a class says nothing of the class of a network')
})

t.test('a crawler may have several lists, and a list that names none or cannot be read is none of them', async (t) => {
  const dir = folder(t)
  const row = { kind: 'crawler', crawler: 'onebot', networkClass: 'datacenter', provider: 'One' } as const
  const first = madeSource(dir, { ...row, id: 'one' }, '23.0.0.0/16\n')
  const sources = [
    first,
    madeSource(dir, { ...row, id: 'one-2' }, '23.0.7.0/24\n'),
    madeSource(dir, { id: 'all', kind: 'crawler', networkClass: 'datacenter' }, '23.0.0.0/8\n'),
    madeSource(dir, { ...row, id: 'bad', crawler: 'badbot' }, '<html>not found</html>'),
    { row: { ...first.row, id: 'gone', crawler: 'gonebot' }, reason: 'no file is set' },
  ]
  const { path, sources: statuses } = await compileTables({ dataDir: dir, sources })
  const states = statuses.map(({ state }) => state)
  t.same(states, ['loaded', 'loaded', 'loaded', 'refused'])
  const { crawlerRanges, networks, rangesLoaded } = loadTables(path)
  const of = (text: string) => ['onebot', 'badbot'].filter((slug) => crawlerRanges?.holds(slug, makeAddress(text)))
  t.same(['23.0.7.1', '23.0.8.1', '23.1.0.0'].map(of), [['onebot'], ['onebot'], []])
  t.notOk(crawlerRanges?.covers('badbot', 4), 'a list that cannot be read refutes nobody')
  t.match(networks?.find(makeAddress('23.0.7.1')), {
    range: { networkClass: 'datacenter', provider: 'One', source: 'one', kind: 'crawler' },
    also: [{ source: 'one-2' }, { source: 'all' }],
    inDatacenterRanges: false,
  })
  t.equal(rangesLoaded, false, 'a crawler is no list of datacenters')
})

t.test("machines that come with it as an operator's are no VPN's, until the operator's own list is read", async (t) => {
  const systems = { 'asn-csv-v4': '185.93.1.0,185.93.1.255,60068,Datacamp Limited' }
  const [edge, other] = [makeAddress('185.93.1.242'), makeAddress('185.93.1.10')]
  const shipped = { ...(await openTables(t, systems)), sources: [] }
  t.match(classify(edge, shipped), {
    verdict: { classification: 'datacenter', anonymized: false },
    provider: 'bunny.net',
    source: 'shipped-bunny.net',
    sourceDate: '2026-05-05',
  })
  t.not(classify(other, shipped).source, 'shipped-bunny.net')
  t.equal(shipped.crawlerRanges, undefined, 'claims of crawlers are not checked with these')
  const read = { ...(await openTables(t, { ...systems, 'edges-bunny-v4': '185.93.1.10\n' })), sources: [] }
  t.match(classify(other, read), { verdict: { classification: 'datacenter' }, source: 'edges-bunny-v4' })
  t.not(classify(edge, read).source, 'shipped-bunny.net', 'it may be another one now')
})

t.test('a verdict names the day that the status of its source names', async (t) => {
  const networks = DATED_RANGES.map(({ prefixes }) => prefixes.find((text) => !text.includes(':'))?.split('/')[0] ?? '')
  const systems = { 'asn-csv-v4': networks.map((first) => `${first},${first},64500,Access`).join('\n') }
  const shipped = { ...(await openTables(t, systems)), sources: [] }
  const named = networks.map((first) => classify(makeAddress(first), shipped))
  const dates = new Map(FACTS.map(({ id, date }) => [id, date]))
  for (const { source = '', sourceDate } of named) t.equal(sourceDate, dates.get(source), source)
  t.ok(new Set(named.map(({ source }) => source)).size > 10)
})
