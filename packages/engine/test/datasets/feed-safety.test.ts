import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openFeeds } from '../../src/datasets/service/feeds.ts'
import { createUpdates } from '../../src/datasets/service/updates.ts'
import { madeList } from '../../src/datasets/testing/feed-server.ts'
import { dataConfig, type FeedRig, openFeedRig, PORTS } from './feed-rig.ts'

/* Attempts of a feed to do harm: after each the last good list is in use. */

const LIST = 'x4bnet-vpn-ipv4'
const GOOD = madeList(400)

async function seeded(t: Parameters<typeof openFeedRig>[0]): Promise<FeedRig> {
  const rig = await openFeedRig(t, [LIST])
  t.match(await rig.update(LIST, GOOD), { state: 'updated', entries: 400 })
  return rig
}

const garbled = (count: number) =>
  Array.from({ length: count }, (_, index) => `176.221.${index}.3254.174.140.${index}\n`).join('')
const wide = ['0.0.0.0/0', '::/0', '0.0.0.0/1\n128.0.0.0/1', '1.2.3.4/1/panel', '8.0.0.0/7', '2000::/3']
const eights = Array.from({ length: 40 }, (_, index) => `${index + 30}.0.0.0/8\n`).join('')
const sixteens = Array.from({ length: 300 }, (_, index) => `24.${index & 255}.${index >> 8}.0/16\n`).join('')
const famous = ['1.1.1.1', '8.8.8.0/24', '9.9.9.9/32', '198.41.0.0/24', '193.0.14.129']
const reserved = '10.0.0.0/8\n192.168.1.1\n127.0.0.1\n169.254.169.254\n224.0.0.1\n100.64.0.0/10\n0.0.0.0\n'
const odd = '٢٣.0.0.1\n23.0.0.1\u0000\n23.0.0.0/24 or so\n0x17.0.0.1\n23.0.0.0/024\n23.0.0.0/-1\n=1+1\n'
const [NOTHING, TOO_FEW, TOO_WIDE] = [/no line could be read/, /less than half/, /covers too much of the IPv4 space/]

const HOSTILE: readonly (readonly [what: string, text: string, reason: RegExp])[] = [
  ['empty', '', NOTHING],
  ['blank', '\n\n  \n', NOTHING],
  ['comments alone', '# temporarily unavailable\n', NOTHING],
  ['a web page', '<!DOCTYPE html>\n<html><title>429</title></html>\n', NOTHING],
  ['JSON instead', '{"message":"Not Found"}', NOTHING],
  ['tiny', madeList(1), /the file has 1 entry, less than half of the previous 400/],
  ['truncated', GOOD.slice(0, GOOD.length / 3), TOO_FEW],
  ['nine tenths are gone', madeList(40), TOO_FEW],
  ['one line again and again', madeList(1).repeat(400), TOO_FEW],
  ['a torrent', madeList(2000), /the file has 2,000 entries, more than twice the previous 400/],
  ...wide.map((line) => [line, `${line}\n`.repeat(5) + GOOD, /lines do not have the expected format/] as const),
  ['many /8', GOOD + eights, TOO_WIDE],
  ['many /16', GOOD + sixteens, TOO_WIDE],
  ...famous.map((line) => [line, `${GOOD}${line}\n`, /the public service \S+ is not vpn/] as const),
  ['garbled', GOOD + garbled(200), /200 of 600 lines/],
  ['odd', GOOD + odd, /7 of 407 lines/],
  ['reserved', reserved + GOOD, /7 of 407 lines/],
]

t.test('a list that is torn, too wide or poisoned is refused, and the one in use stays and ages on', async (t) => {
  const rig = await seeded(t)
  const { url } = rig.feed(LIST)
  const { checked } = rig.store.read(LIST, url)
  for (const [what, text, reason] of HOSTILE) {
    for (const time of ['once', 'again']) {
      rig.tick(3_600_000)
      t.match(await rig.update(LIST, text), { state: 'refused', reason }, `${what}, ${time}`)
      t.equal(rig.inUse(LIST), GOOD, what)
      t.match(rig.store.read(LIST, url), { error: reason, checked }, `${what}, ${time}: its age stays`)
    }
  }
  for (const bad of ['0.0.0.0/0\n', '10.0.0.0/8\n', garbled(4)])
    t.match(await rig.update(LIST, bad + GOOD), { state: 'updated', entries: 400 }, 'a few bad lines are dropped')
  t.match(await rig.update(LIST, madeList(210)), { state: 'updated' }, 'half is believed')
  t.match(await rig.update(LIST, madeList(2000), { accept: true }), { state: 'updated' }, 'a jump, when it is accepted')
})

t.test('the table says how small and how large a published list can be, first load included', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  const published = { ...rig.feed(LIST), published: true }
  t.match(await rig.update(LIST, madeList(65_000)), { state: 'refused', reason: /at most 60000 are plausible/ })
  rig.server.serve(`/${LIST}`, madeList(100))
  const reason = /the file has 100 entries, but at least 3000 are plausible/
  t.match(await rig.updateFeed(published), { state: 'refused', reason })
})

t.test('entries that an earlier version counted twice do not keep their list for ever', async (t) => {
  const rig = await seeded(t)
  const state = rig.store.read(LIST, rig.feed(LIST).url)
  if (state.current === undefined) return t.fail('nothing is in use')
  await rig.store.write(LIST, { ...state, current: { ...state.current, entries: 1_000 } })
  t.match(await rig.update(LIST, madeList(401)), { state: 'updated', entries: 401 })
})

t.test('a table of countries does not put everybody into one', async (t) => {
  const countries = 'user-country-v4'
  const rig = await openFeedRig(t, [countries])
  const eights = (makeCode: (first: number) => string) =>
    Array.from({ length: 190 }, (_, at) => `${at + 20}.0.0.0,${at + 20}.255.255.255,${makeCode(at)}\n`).join('')
  const good = eights((at) => (at % 2 === 0 ? 'US' : 'DE'))
  t.match(await rig.update(countries, good), { state: 'updated', entries: 190 })
  const reason = /assigns most of IPv4 to one country/
  for (const hostile of [eights(() => 'RU'), '0.0.0.0,255.255.255.255,RU\n']) {
    for (const accept of [false, true])
      t.match(await rig.update(countries, hostile, { accept }), { state: 'refused', reason })
  }
  t.equal(rig.inUse(countries), good)
})

t.test('a list of throwaway mail does not hold the mail that people keep', async (t) => {
  const mail = 'throwaway-mail'
  const rig = await openFeedRig(t, [mail])
  const good = Array.from({ length: 50 }, (_, at) => `made${at}.example\n`).join('')
  t.match(await rig.update(mail, good), { state: 'updated', entries: 50 })
  const reason = /gmail\.com is a permanent email provider/
  t.match(await rig.update(mail, `${good}GMail.com\n`), { state: 'refused', reason })
  t.equal(rig.inUse(mail), good)
})

t.test('a half-written file is never read', async (t) => {
  const rig = await seeded(t)
  const outcome = rig.update(LIST, (_, response) => {
    response.writeHead(200).write(madeList(300))
    // Half of it is on the disk by now, and not in use.
    setTimeout(() => {
      t.equal(rig.inUse(LIST), GOOD)
      response.end(madeList(300, 300))
    }, 50)
  })
  t.match(await outcome, { state: 'updated', entries: 600 })
  t.equal(rig.inUse(LIST), madeList(600))
})

t.test('every package comes with a checksum, and few may run a script when installed', async (t) => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../../package-lock.json'), 'utf8'))
  type Package = { readonly integrity?: string } & Partial<Record<'link' | 'hasInstallScript' | 'dev', true>>
  const packages = Object.entries<Package>(lock.packages)
  const outside = packages.filter(([path, { link }]) => path.includes('node_modules/') && !link)
  t.ok(outside.length > 100)
  for (const [path, { integrity }] of outside) t.ok(integrity?.startsWith('sha512-'), path)
  const scripts = outside.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev).map(([path]) => path)
  // `allowScripts` refuses both.
  t.same(scripts, ['node_modules/@photostructure/sqlite', 'node_modules/@scarf/scarf'])
})

t.test('nothing is fetched without TLS from outside, or with its checks switched off', async (t) => {
  const sources = { [LIST]: { url: 'http://192.0.32.7/list.txt' } }
  const config = dataConfig(t.testdir(), { sources })
  const updates = createUpdates(config, PORTS)
  t.match(await updates.update({ source: LIST }), [{ state: 'failed', reason: /plain http is not permitted/ }])
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.teardown(() => void delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
  await t.rejects(updates.update({ source: LIST }), { code: 'invalid_config', message: /NODE_TLS_REJECT_UNAUTHORIZED/ })
  t.throws(() => openFeeds(dataConfig(config.dataDir, { refresh: true, sources }), PORTS), { code: 'invalid_config' })
  t.ok(openFeeds(config, PORTS), 'what is not refreshed is not fetched')
})
