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

/** Serves what must be refused, twice; the list in use stays to the byte and ages on, and says why it was not replaced. */
async function refused(t: Parameters<typeof openFeedRig>[0], rig: FeedRig, what: string, text: string, reason: RegExp) {
  const { url } = rig.feed(LIST)
  const { checked } = rig.store.read(LIST, url)
  for (const time of ['once', 'again']) {
    rig.tick(3_600_000)
    t.match(await rig.update(LIST, text), { state: 'refused', reason }, `${what}, ${time}`)
    t.equal(rig.inUse(LIST), GOOD, what)
    t.match(rig.store.read(LIST, url), { error: reason, checked }, `${what}, ${time}: its age stays`)
  }
}

t.test('empty, tiny, truncated, HTML: nothing wipes a list', async (t) => {
  const rig = await seeded(t)
  const nothing = /no line could be read/
  await refused(t, rig, 'empty', '', nothing)
  await refused(t, rig, 'blank', '\n\n  \n', nothing)
  await refused(t, rig, 'comments alone', '# temporarily unavailable\n', nothing)
  await refused(t, rig, 'a web page', '<!DOCTYPE html>\n<html><title>429</title></html>\n', nothing)
  await refused(t, rig, 'JSON instead', '{"message":"Not Found"}', nothing)
  await refused(t, rig, 'tiny', madeList(1), /the file has 1 entry, less than half of the previous 400/)
  await refused(t, rig, 'truncated', GOOD.slice(0, GOOD.length / 3), /less than half/)
  await refused(t, rig, 'nine tenths are gone', madeList(40), /the file has 40 entries, less than half/)
  await refused(
    t,
    rig,
    'one line again and again',
    madeList(1).repeat(400),
    /the file has 1 entry, less than half of the previous 400/,
  )
  await refused(t, rig, 'a torrent', madeList(2000), /the file has 2,000 entries, more than twice the previous 400/)
  t.match(await rig.update(LIST, madeList(210)), { state: 'updated' }, 'half is believed')
  t.match(await rig.update(LIST, madeList(2000), { accept: true }), { state: 'updated' }, 'a jump, when it is accepted')
})

t.test('the table says how small and how large a published list can be, first load included', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  const published = { ...rig.feed(LIST), published: true }
  t.match(await rig.update(LIST, madeList(65_000)), { state: 'refused', reason: /at most 60000 are plausible/ })
  rig.server.serve(`/${LIST}`, madeList(100))
  t.match(await rig.updateFeed(published), {
    state: 'refused',
    reason: /the file has 100 entries, but at least 3000 are plausible/,
  })
})

t.test('over-wide prefixes, and a share of the space that no such list has', async (t) => {
  const rig = await seeded(t)
  for (const wide of ['0.0.0.0/0', '::/0', '0.0.0.0/1\n128.0.0.0/1', '1.2.3.4/1/panel', '8.0.0.0/7', '2000::/3']) {
    await refused(t, rig, wide, `${wide}\n`.repeat(5) + GOOD, /lines do not have the expected format/)
  }
  const eights = Array.from({ length: 40 }, (_, index) => `${index + 30}.0.0.0/8\n`).join('')
  await refused(t, rig, 'many /8', GOOD + eights, /covers too much of the IPv4 space/)
  const half = GOOD + Array.from({ length: 300 }, (_, index) => `24.${index & 255}.${index >> 8}.0/16\n`).join('')
  await refused(t, rig, 'many /16', half, /covers too much of the IPv4 space/)
  t.match(await rig.update(LIST, `0.0.0.0/0\n${GOOD}`), { state: 'updated', entries: 400 }, 'one is a bad line')
})

t.test('a file of systems does not call the internet an anonymiser either', async (t) => {
  const systems = 'asn-csv-v4'
  const rig = await openFeedRig(t, [systems])
  const eights = (line: (first: number) => string) =>
    Array.from({ length: 190 }, (_, index) => `${index + 20}.0.0.0,${index + 20}.255.255.255,${line(index)}\n`).join('')
  const good = eights((index) => `${64_512 + index},Kent Cable Telecom`)
  t.match(await rig.update(systems, good), { state: 'updated', entries: 190 })
  const hostile = eights(() => '60729,Stiftung Erneuerbare Freiheit')
  for (const accept of [false, true]) {
    t.match(await rig.update(systems, hostile, { accept }), {
      state: 'refused',
      reason: /public service to an anonymiser/,
    })
  }
  t.equal(rig.inUse(systems), good)
})

t.test('entries that an earlier version counted twice do not keep their list for ever', async (t) => {
  const rig = await seeded(t)
  const { id, url } = { id: LIST, url: rig.feed(LIST).url }
  const state = rig.store.read(id, url)
  if (state.current === undefined) return t.fail('nothing is in use')
  await rig.store.write(id, { ...state, current: { ...state.current, entries: 1_000 } })
  t.match(await rig.update(LIST, madeList(401)), { state: 'updated', entries: 401 })
})

t.test('a table of countries does not put everybody into one', async (t) => {
  const countries = 'user-country-v4'
  const rig = await openFeedRig(t, [countries])
  const eights = (codeOf: (first: number) => string) =>
    Array.from({ length: 190 }, (_, at) => `${at + 20}.0.0.0,${at + 20}.255.255.255,${codeOf(at)}\n`).join('')
  const good = eights((at) => (at % 2 === 0 ? 'US' : 'DE'))
  t.match(await rig.update(countries, good), { state: 'updated', entries: 190 })
  const reason = /assigns most of IPv4 to one country/
  for (const accept of [false, true]) {
    t.match(
      await rig.update(
        countries,
        eights(() => 'RU'),
        { accept },
      ),
      { state: 'refused', reason },
    )
  }
  t.match(await rig.update(countries, '0.0.0.0,255.255.255.255,RU\n', { accept: true }), { state: 'refused', reason })
  t.equal(rig.inUse(countries), good)
})

t.test('a list of throwaway mail does not hold the mail that people keep', async (t) => {
  const mail = 'throwaway-mail'
  const rig = await openFeedRig(t, [mail])
  const good = Array.from({ length: 50 }, (_, at) => `made${at}.example\n`).join('')
  t.match(await rig.update(mail, good), { state: 'updated', entries: 50 })
  t.match(await rig.update(mail, `${good}GMail.com\n`), {
    state: 'refused',
    reason: /gmail\.com is a permanent email provider/,
  })
  t.equal(rig.inUse(mail), good)
})

t.test('canaries: no anonymiser holds what everybody reaches', async (t) => {
  const rig = await seeded(t)
  for (const famous of ['1.1.1.1', '8.8.8.0/24', '9.9.9.9/32', '198.41.0.0/24', '193.0.14.129']) {
    await refused(t, rig, famous, `${GOOD}${famous}\n`, /the public service \S+ is not vpn/)
  }
})

t.test('garbled lines are dropped and counted, and too many refuse the list', async (t) => {
  const rig = await seeded(t)
  const garbled = (count: number) =>
    Array.from({ length: count }, (_, index) => `176.221.${index}.3254.174.140.${index}\n`).join('')
  t.match(await rig.update(LIST, GOOD + garbled(4)), { state: 'updated', entries: 400 })
  const before = rig.inUse(LIST)
  t.match(await rig.update(LIST, GOOD + garbled(200)), { state: 'refused', reason: /200 of 600 lines/ })
  t.equal(rig.inUse(LIST), before)
  const odd = ['٢٣.0.0.1', '23.0.0.1\u0000', '23.0.0.0/24 or so', '0x17.0.0.1', '23.0.0.0/024', '23.0.0.0/-1', '=1+1']
  t.match(await rig.update(LIST, `${GOOD}${odd.join('\n')}\n`), { state: 'refused', reason: /7 of 407 lines/ })
})

t.test('reserved ranges inside are never taken', async (t) => {
  const rig = await seeded(t)
  const reserved = [
    '10.0.0.0/8',
    '192.168.1.1',
    '127.0.0.1',
    '169.254.169.254',
    '224.0.0.1',
    '100.64.0.0/10',
    '0.0.0.0',
  ]
  await refused(t, rig, 'some', `${reserved.join('\n')}\n${GOOD}`, /7 of 407 lines/)
  t.match(await rig.update(LIST, `10.0.0.0/8\n${GOOD}`), { state: 'updated', entries: 400 }, 'one is a bad line')
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
  const packages = Object.entries<{
    link?: true | undefined
    integrity?: string | undefined
    hasInstallScript?: true | undefined
    dev?: true | undefined
  }>(lock.packages)
  const outside = packages.filter(([path, { link }]) => path.includes('node_modules/') && !link)
  t.ok(outside.length > 100)
  t.same(
    outside.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path),
    [],
  )
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
