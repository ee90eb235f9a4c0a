import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, address4, address6, findAddress, formatAddress, type RangeHit } from '@sallyport/core'
import { createRandom, makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { addressColumns } from '../../src/datasets/compile/listed-addresses.ts'
import { compileTables, loadTables, type ResolvedSource } from '../../src/datasets/index.ts'
import { createRangeWriter } from '../../src/datasets/ranges/ranges.ts'
import { folder, madeSource } from './fixtures.ts'

/** Compiles these sources as they are on a day, in days since the epoch, and loads them as on another. */
async function tablesOn(t: Parameters<typeof folder>[0], sources: readonly ResolvedSource[], today = 20_000) {
  const { path } = await compileTables({ dataDir: folder(t), sources })
  return loadTables(path, { today: () => today })
}

t.test('half a million addresses answer as a map of them does', async (t) => {
  const random = createRandom(500)
  const word = () => random(2 ** 32) | 0
  // Neighbours, so that a filter or a search that is off by one is seen.
  const bases = Array.from({ length: 40 }, () => word())
  const draw = (family: 4 | 6): Address => {
    const near = ((bases[random(bases.length)] as number) & ~0xffff) | random(2 ** 16)
    if (family === 4) return address4(near)
    return address6(0x2a000000 | random(4), near, random(3) === 0 ? 0 : word(), random(2) === 0 ? 1 : word())
  }
  const writeKey = ({ family, a, b, c, d }: Address) => `${family} ${a} ${b} ${c} ${d}`
  // The word of the first list that names an address; the lists come in order of precedence.
  const expected = new Map<string, number>()
  const drawn: Address[] = []
  const lists = [20_010, 20_020, 20_030].map((expires, position) => {
    const writers = { 4: createRangeWriter(4), 6: createRangeWriter(6) }
    for (let index = 0; index < 167_000; index++) {
      const one = draw(index % 9 === 0 ? 6 : 4)
      writers[one.family].add(one, one, 1)
      const key = writeKey(one)
      if (!expected.has(key)) expected.set(key, position)
      if (index % 20 === 0) drawn.push(one)
    }
    return { ranges: { 4: writers[4].finish(), 6: writers[6].finish() }, expires }
  })
  const columns = addressColumns(lists)
  const index = { filter: columns['addresses.filter'], four: columns['addresses.four'], six: columns['addresses.six'] }
  const asked = [...drawn, ...Array.from({ length: 20_000 }, (_, turn) => draw(turn % 3 === 0 ? 6 : 4))]
  const wrong = asked.filter((one) => {
    const entry = findAddress(index, one)
    const list = expected.get(writeKey(one))
    if (list === undefined) return entry !== -1
    return columns['addresses.lists'][entry] !== list || columns['addresses.expires'][entry] !== lists[list]?.expires
  })
  t.same(wrong.slice(0, 5).map(formatAddress), [], `${expected.size} addresses, ${asked.length} asked`)
  t.ok(expected.size > 300_000)
})

t.test('an entry holds up to its last day, and then the next list that names the address speaks', async (t) => {
  const dir = folder(t)
  const listed = '23.0.0.7\n2a00:1::7\n'
  const sources = [
    madeSource(dir, { id: 'exits', kind: 'addresses', networkClass: 'residential_proxy' }, listed),
    madeSource(dir, { id: 'machines', kind: 'addresses', networkClass: 'hosting', provider: 'Some' }, listed),
    madeSource(dir, { id: 'ranges', kind: 'ranges', networkClass: 'hosting' }, '23.0.0.0/24\n'),
  ]
  // The lists are of the day 20,000.
  const dated = sources.map((source): ResolvedSource => {
    const modified = 20_000 * 86_400_000 + 5_000
    utimesSync(join(dir, source.row.id), modified / 1000, modified / 1000)
    return source.file === undefined ? source : { ...source, file: { ...source.file, modified } }
  })
  const on = async (today: number, text: string): Promise<RangeHit | undefined> =>
    (await tablesOn(t, dated, today)).networks?.find(makeAddress(text))?.range
  for (const text of ['23.0.0.7', '2a00:1::7']) {
    for (const day of [20_000, 20_003]) {
      const exit = { networkClass: 'residential_proxy', single: true, provider: '', source: 'exits', expires: 20_003 }
      t.match(await on(day, text), exit)
    }
    t.match(await on(20_004, text), { networkClass: 'hosting', provider: 'Some', expires: 21_325 })
  }
  const tables = await tablesOn(t, dated, 20_003)
  const find = (text: string) => tables.networks?.find(makeAddress(text))
  const also = find('23.0.0.7')?.also.map(({ source, narrow }) => `${source} ${narrow}`)
  t.same(also, ['machines true', 'ranges true'], 'what else is said of it stays evidence')
  t.equal(find('23.0.0.7'), find('23.0.0.7'), 'one object, by which a finding is kept')
  t.match(await on(20_004, '23.0.0.8'), { networkClass: 'hosting', single: false })
  const others = dated.filter(({ row }) => row.id !== 'machines')
  const alone = await tablesOn(t, others, 20_004)
  t.match(alone.networks?.find(makeAddress('23.0.0.7'))?.range, { networkClass: 'hosting' }, 'expired is not listed')
  t.equal(alone.networks?.find(makeAddress('2a00:1::7')), undefined)
})
