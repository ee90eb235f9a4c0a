import { parseAddress, reservedRow } from '@sallyport/core'
import { createRandom, type Random } from '@sallyport/core/testing'
import { feedsOf } from '@sallyport/datasets'
import t from 'tap'
import { type ConfigInput, open, openUpdates, type Sallyport } from '../src/index.ts'
import { madeList, openFeedServer } from './feed-server.ts'
import { madeConfig } from './made-sources.ts'

/* Whatever a feed serves, it changes no more classes than such a list plausibly can, and the service goes on. */

const SAMPLE = 10_000
const LISTS = ['x4bnet-vpn-ipv4', 'tor-bulk-exit', 'apple-private-relay', 'aws'] as const

/** Public addresses: a feed of others is refused at once, which other tests show. */
const octets = (random: Random) => [random(70) + 20, random(256), random(256), random(256)].join('.')
const anywhere = (random: Random) => [random(223) + 1, random(256), random(256), random(256)].join('.')
const lines = (count: number, line: () => string) => Array.from({ length: count }, line).join('\n')

/** What a hostile publisher may think of. */
const ATTACKS: readonly ((random: Random) => string | Buffer)[] = [
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
  (random) => JSON.stringify({ prefixes: Array.from({ length: 700 }, () => ({ ip_prefix: `${octets(random)}/14` })) }),
  (random) => JSON.stringify({ prefixes: Array.from({ length: 700 }, () => ({ ip_prefix: `${octets(random)}/12` })) }),
  (random) => `${lines(300, () => `${octets(random)}/24`)}\n1.1.1.1`,
  (random) => lines(300, () => `${octets(random)}${random(2) ? '' : octets(random)}`),
  () => madeList(1),
  () => JSON.stringify({ prefixes: [{ ip_prefix: '0.0.0.0/0' }] }),
  (random) =>
    JSON.stringify({ prefixes: Array.from({ length: 5_000 }, () => ({ ip_prefix: `${octets(random)}/12` })) }),
  () => '['.repeat(100_000),
  (random) => lines(200, () => `${octets(random)}/24,US,,,`),
  (random) => Buffer.from(Array.from({ length: 20_000 }, () => random(256))),
  () => Buffer.from('23.0.0.0/24\n'.repeat(1_000), 'utf16le'),
  () => `${'9'.repeat(1_000_000)}\n`,
]

t.test(`a hostile publisher changes no more of ${SAMPLE} verdicts than its lists can hold`, async (t) => {
  const server = await openFeedServer(t)
  const base = madeConfig(t.testdir())
  const off = Object.fromEntries(feedsOf().map(({ row }) => [row.id, { enabled: false }]))
  const own = Object.fromEntries(LISTS.map((id) => [id, { url: server.url(`/${id}`) }]))
  const config: ConfigInput = {
    ...base,
    data: { refresh: false, sources: { ...off, ...base.data?.sources, ...own } },
    net: { allowPrivate: ['127.0.0.1/32'] },
  }
  for (const id of LISTS)
    server.serve(`/${id}`, id === 'aws' ? awsList(400) : id === 'tor-bulk-exit' ? exits(400) : madeList(400))
  const good = await openUpdates(config).update()
  t.ok(good.every(({ state }) => state === 'updated'))

  const random = createRandom(20261121)
  const sample = Array.from({ length: SAMPLE }, () => anywhere(random)).filter((text) => {
    const address = parseAddress(text)
    return address !== undefined && reservedRow(address) === undefined
  })
  const before = await classes(config, sample)
  const rows = feedsOf(config.data?.sources).filter(({ row }) => LISTS.some((id) => id === row.id))
  const plausible = rows.reduce((sum, { row }) => sum + (row.covers?.ipv4 ?? 0), 0) / 2 ** 32
  // What is plausible of all of them together, and what chance may add to it.
  const most = plausible * sample.length + 5 * Math.sqrt(plausible * sample.length)
  const taken = new Set<string>()
  for (const [round, attack] of ATTACKS.entries()) {
    for (const id of LISTS) server.serve(`/${id}`, attack(random))
    // Every other time the operator even asks for lists whose size jumped.
    const outcomes = await openUpdates(config).update({ accept: round % 2 === 1 })
    const states = outcomes.map(({ state }) => state).join()
    if (!states.includes('updated')) {
      t.notMatch(states, /unchanged/, `attack ${round}: refused, so what was loaded is loaded`)
      continue
    }
    for (const { source, state } of outcomes) if (state === 'updated') taken.add(source)
    const after = await classes(config, sample)
    const changed = after.filter((networkClass, index) => networkClass !== before[index]).length
    t.ok(changed <= most, `attack ${round}: ${states}: ${changed} of at most ${Math.floor(most)}`)
    t.equal(after.length, sample.length, 'and every address is answered')
  }
  t.ok(taken.size === LISTS.length, `what is plausible gets in: ${[...taken]}`)
})

const exits = (count: number) => madeList(count).replaceAll('.0/24', '.1')
const awsList = (count: number) =>
  JSON.stringify({
    prefixes: madeList(count)
      .trim()
      .split('\n')
      .map((ip_prefix) => ({ ip_prefix })),
  })

async function classes(config: ConfigInput, sample: readonly string[]): Promise<readonly string[]> {
  const sallyport: Sallyport = await open(config)
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  const found = sample.map((peer) => sallyport.inspect({ ...request, peer }).network.verdict.classification)
  t.ok(
    sallyport.sources().filter(({ id, state }) => LISTS.some((list) => list === id) && state === 'loaded').length ===
      LISTS.length,
  )
  await sallyport.close()
  return found
}
