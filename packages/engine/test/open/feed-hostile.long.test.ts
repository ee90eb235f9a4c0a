import { parseAddress, reservedRow } from '@sallyport/core'
import { createRandom, type Random } from '@sallyport/core/testing'
import t from 'tap'
import { resolveFeeds } from '#datasets'
import { madeList, openFeedServer } from '#datasets/testing'
import { type ConfigInput, open, openUpdates } from '../../src/open/index.ts'
import { feedConfig } from './made-sources.ts'
import { requestFrom } from './requests.ts'

/*
 * Whatever a feed serves, it changes no more classes than such a list plausibly can, and the service goes on.
 * `npm run fault` serves every attack as every list; the suite serves each attack once.
 */
const ALL = process.env['TEST_LENGTH'] === 'full'

const SAMPLE = 10_000
const LISTS = ['x4bnet-vpn-ipv4', 'tor-bulk-exit', 'apple-private-relay', 'aws'] as const

/** Public addresses: a feed of others is refused at once, which other tests show. */
const octets = (random: Random) => [random(70) + 20, random(256), random(256), random(256)].join('.')
const anywhere = (random: Random) => [random(223) + 1, random(256), random(256), random(256)].join('.')
const lines = (count: number, line: () => string) => Array.from({ length: count }, line).join('\n')
const prefixes = (random: Random, length: number, bits: number) =>
  JSON.stringify({ prefixes: Array.from({ length }, () => ({ ip_prefix: `${octets(random)}/${bits}` })) })

type Attack = (random: Random) => string | Buffer

/** A hostile publisher may serve these texts. */
const ATTACKS: readonly Attack[] = [
  () => '',
  () => '<html><h1>502 Bad Gateway</h1></html>',
  () => '0.0.0.0/0\n::/0\n',
  (random) => lines(40, () => `${octets(random)}/8`),
  (random) => lines(500, () => `${octets(random)}/10`),
  (random) => lines(20_000, () => `${octets(random)}/16`),
  (random) => lines(55_000, () => `${octets(random)}/${20 + random(13)}`),
  (random) => lines(3_000, () => octets(random)),
  (random) => lines(600, () => `${octets(random)}/18`),
  (random) => lines(700, () => octets(random)),
  (random) => lines(600, () => `${octets(random)}/24,US,,,`),
  (random) => prefixes(random, 700, 14),
  (random) => prefixes(random, 700, 12),
  (random) => `${lines(300, () => `${octets(random)}/24`)}\n1.1.1.1`,
  (random) => lines(300, () => `${octets(random)}${random(2) ? '' : octets(random)}`),
  () => madeList(1),
  () => JSON.stringify({ prefixes: [{ ip_prefix: '0.0.0.0/0' }] }),
  (random) => prefixes(random, 5_000, 12),
  () => '['.repeat(100_000),
  (random) => lines(200, () => `${octets(random)}/24,US,,,`),
  (random) => Buffer.from(Array.from({ length: 20_000 }, () => random(256))),
  () => Buffer.from('23.0.0.0/24\n'.repeat(1_000), 'utf16le'),
  () => `${'9'.repeat(1_000_000)}\n`,
]

t.test(`a hostile publisher changes no more of ${SAMPLE} verdicts than its lists can hold`, async (t) => {
  const server = await openFeedServer(t)
  const config = feedConfig(t.testdir(), Object.fromEntries(LISTS.map((id) => [id, server.url(`/${id}`)])))
  for (const id of LISTS) server.serve(`/${id}`, plausibleList(id))
  const good = await openUpdates(config).update()
  t.ok(good.every(({ state }) => state === 'updated'))

  const random = createRandom(20261121)
  const sample = Array.from({ length: SAMPLE }, () => anywhere(random)).filter((text) => {
    const address = parseAddress(text)
    return address !== undefined && reservedRow(address) === undefined
  })
  const before = await classes(config, sample)
  const rows = resolveFeeds(config.data?.sources).filter(({ row }) => LISTS.some((id) => id === row.id))
  const plausible = rows.reduce((sum, { row }) => sum + (row.covers?.ipv4 ?? 0), 0) / 2 ** 32
  // All lists together may change their plausible share, and chance adds to it.
  const most = plausible * sample.length + 5 * Math.sqrt(plausible * sample.length)
  const faults: string[] = []
  for (const [round, attacks] of rounds().entries()) {
    for (const [index, id] of LISTS.entries()) server.serve(`/${id}`, attacks[index]?.(random) ?? '')
    // Every other time the operator even asks for lists whose size jumped.
    const outcomes = await openUpdates(config).update({ accept: round % 2 === 1 })
    const states = outcomes.map(({ state }) => state).join()
    if (!states.includes('updated')) {
      if (states.includes('unchanged')) faults.push(`round ${round}: ${states}`)
      continue
    }
    const after = await classes(config, sample)
    const changed = after.filter((networkClass, index) => networkClass !== before[index]).length
    if (changed > most) faults.push(`round ${round}: ${states}: ${changed} of at most ${Math.floor(most)}`)
    if (after.length !== sample.length) faults.push(`round ${round}: ${after.length} addresses are answered`)
  }
  t.same(faults, [])
  for (const id of LISTS) server.serve(`/${id}`, plausibleList(id, 100))
  const last = await openUpdates(config).update({ accept: true })
  t.same(new Set(last.map(({ state }) => state)), new Set(['updated']), 'what is plausible gets in')
})

/** Returns the attacks of each round, one for each list. */
function rounds(): readonly (readonly Attack[])[] {
  if (ALL) return ATTACKS.map((attack) => LISTS.map(() => attack))
  const count = Math.ceil(ATTACKS.length / LISTS.length)
  return Array.from({ length: count }, (_, round) => ATTACKS.slice(round * LISTS.length, (round + 1) * LISTS.length))
}

function plausibleList(id: (typeof LISTS)[number], from = 0): string {
  const list = madeList(400, from)
  if (id === 'tor-bulk-exit') return list.replaceAll('.0/24', '.1')
  const prefixes = list.trim().split('\n')
  return id === 'aws' ? JSON.stringify({ prefixes: prefixes.map((ip_prefix) => ({ ip_prefix })) }) : list
}

async function classes(config: ConfigInput, sample: readonly string[]): Promise<readonly string[]> {
  const sallyport = await open(config)
  const found = sample.map((peer) => sallyport.inspect(requestFrom(peer)).network.verdict.classification)
  const loaded = sallyport.sources().filter(({ state }) => state === 'loaded')
  for (const list of LISTS) t.ok(loaded.some(({ id }) => id === list))
  await sallyport.close()
  return found
}
