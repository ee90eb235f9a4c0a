import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  type ConfigInput,
  type NoticeCode,
  open,
  openUpdates,
  type Sallyport,
  type ServiceEvent,
} from '../../src/open/index.ts'
import { made, openBundleRig, until, VPN } from './bundle-rig.ts'

const ONE = '8.2.7.0/24\n'
const OTHER = '8.2.8.0/24\n'

function classOf(sallyport: Sallyport, peer: string): string {
  const request = { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  return sallyport.inspect(request).network.verdict.classification
}

const sourceOf = (sallyport: Sallyport, id: string) => sallyport.sources().find((source) => source.id === id)

/** A service that reads, and what it says. */
async function reading(t: Test, config: ConfigInput) {
  const notices: (readonly [NoticeCode, string])[] = []
  const events: ServiceEvent[] = []
  let compiled = 0
  const sallyport = await open(config, {
    onNotice: (code, message) => notices.push([code, message]),
    onProgress: () => compiled++,
    notifier: { raise: (event) => void events.push(event), refused: () => {} },
  })
  t.teardown(() => sallyport.close())
  return { sallyport, notices, events, compiled: () => compiled }
}

t.test('a reader answers as its publisher would, and compiles nothing', async (t) => {
  const rig = await openBundleRig(t)
  const { manifest } = await rig.publish(ONE)
  const config = rig.config('reader')
  const { sallyport, notices, compiled } = await reading(t, config)
  t.equal(classOf(sallyport, '8.2.7.1'), 'vpn')
  t.match(await sallyport.lookup('8.2.7.1'), { geo: { city: 'Bern' }, verdict: { method: 'range:vpn' } })
  t.match(sourceOf(sallyport, VPN), { state: 'loaded', entries: 1, sha256: /^[0-9a-f]{64}$/ })
  t.match(sourceOf(sallyport, 'published'), {
    state: 'loaded',
    generation: String(manifest.version),
    staleAfter: manifest.expires,
    checked: /Z$/,
    error: undefined,
  })
  t.same([compiled(), notices], [0, []])
  const there = readdirSync(config.dataDir)
  t.notOk(
    there.some((name) => /^(tables|city|countries)-|^parsed$|^feeds$|^compile\.lock/.test(name)),
    `${there}`,
  )
})

t.test('without places none are fetched', async (t) => {
  const rig = await openBundleRig(t)
  const { manifest } = await rig.publish(ONE)
  const { sallyport } = await reading(t, rig.config('reader', { city: false }))
  t.equal(classOf(sallyport, '8.2.7.1'), 'vpn')
  t.match(sourceOf(sallyport, 'dbip-city-lite'), { state: 'absent', reason: 'switched off' })
  const city = manifest.files.filter(({ name }) => /^(city|countries)-/.test(name))
  t.equal(city.length, 2)
  t.notOk(city.some(({ sha256 }) => rig.asked.includes(sha256)))
})

t.test(
  'of a publish only the files that changed are fetched, and processes of one dataDir fetch them once',
  async (t) => {
    const rig = await openBundleRig(t)
    await rig.publish(ONE)
    const config = rig.config('reader')
    const both = await Promise.all([open(config), open(config)])
    t.teardown(() => Promise.all(both.map((sallyport) => sallyport.close())))
    const files = () => rig.asked.filter((name) => /^[0-9a-f]{64}$/.test(name))
    t.equal(files().length, 3, 'tables, places and countries')
    t.equal(new Set(files()).size, 3)
    const { manifest } = await rig.publish(OTHER)
    rig.asked.length = 0
    t.match(await openUpdates(config).update(), [{ source: 'published', state: 'updated' }])
    t.same(files(), [manifest.files.find(({ name }) => name === 'tables')?.sha256])
    t.ok(await until(() => both.every((sallyport) => classOf(sallyport, '8.2.8.1') === 'vpn')))
    t.ok(both.every((sallyport) => classOf(sallyport, '8.2.7.1') === 'hosting'))
    rig.asked.length = 0
    t.match(await openUpdates(config).update(), [{ state: 'unchanged' }])
    t.same(rig.asked, ['manifest.json'], 'and it is asked whether it has changed')
    await t.rejects(async () => openUpdates(config).update({ source: VPN }), { code: 'invalid_config' })
    await t.rejects(openUpdates(config).rollBack(), { code: 'missing_data' })
  },
)

t.test('a start without any data says why, notifies, and answers that it knows nothing', async (t) => {
  const rig = await openBundleRig(t)
  await rig.publish(ONE, made())
  const { sallyport, notices, events } = await reading(t, rig.config('reader'))
  const said = /^The data of 127\.0\.0\.1:\d+ is refused: its signature is not of data\.fromKey\./
  t.match(notices, [['SALLYPORT_FEED_REFUSED', said]])
  t.match(events, [{ kind: 'stale', about: 'published', text: said }])
  t.match(sourceOf(sallyport, 'published'), { state: 'absent', reason: /its signature/ })
  t.equal(classOf(sallyport, '8.2.7.1'), 'unknown')
  t.match(await sallyport.lookup('8.2.7.1'), { degraded: ['geo', 'asn', 'ranges'] })
})

t.test('data that was refused is said beside the data that stays in use', async (t) => {
  const rig = await openBundleRig(t)
  await rig.publish(ONE)
  const config = rig.config('reader', { refresh: false })
  await openUpdates(config).update()
  await rig.publish(OTHER, made())
  t.match(await openUpdates(config).update(), [{ source: 'published', state: 'refused', reason: /its signature/ }])
  const { sallyport } = await reading(t, config)
  t.equal(classOf(sallyport, '8.2.7.1'), 'vpn')
  t.match(sourceOf(sallyport, 'published'), { state: 'loaded', error: /its signature/ })
})

t.test('a file that was damaged in the dataDir is fetched again before anybody is answered', async (t) => {
  const rig = await openBundleRig(t)
  const { manifest } = await rig.publish(ONE)
  const config = rig.config('reader')
  await (await open(config)).close()
  const { sha256 = '' } = manifest.files.find(({ name }) => name === 'tables') ?? {}
  const path = join(config.dataDir, 'published', sha256)
  writeFileSync(path, readFileSync(path).fill(0, 300, 310))
  const { sallyport, notices } = await reading(t, config)
  t.equal(classOf(sallyport, '8.2.7.1'), 'vpn')
  t.match(notices, [['SALLYPORT_TABLES_REFUSED', /do not fit its checksum; it is fetched again\.$/]])
})

t.test('a dataDir that is only read is used as it is, and a key is needed', async (t) => {
  const rig = await openBundleRig(t)
  await rig.publish(ONE)
  const config = rig.config('reader')
  await openUpdates(config).update()
  rig.asked.length = 0
  const { sallyport } = await reading(t, rig.config('reader', { readOnly: true }))
  t.equal(classOf(sallyport, '8.2.7.1'), 'vpn')
  const empty = await reading(t, rig.config('other', { refresh: false }))
  t.match(empty.notices, [['SALLYPORT_OFFLINE', /^Nothing of \S+ is in .+: sallyport data update fetches it\.$/]])
  t.same(rig.asked, [])
  t.notOk(existsSync(join(rig.config('other').dataDir, 'published')))
  await t.rejects(open(rig.config('third', { fromKey: undefined })), {
    code: 'invalid_config',
    message: /data\.fromKey: is missing/,
  })
})
