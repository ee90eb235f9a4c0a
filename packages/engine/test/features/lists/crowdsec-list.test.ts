import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listSettings } from '../../../src/config/effective.ts'
import { readConfigFrom } from '../../../src/config/read.ts'
import { parseGoDuration } from '../../../src/features/lists/go-duration.ts'
import { placedLists } from '../../../src/open/index.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { until } from '../../open/opened.ts'
import { openListed } from './listed.ts'
import { BOUNCER_KEY, type LocalCrowdsec, openLocalCrowdsec } from './local-crowdsec.ts'

const WHOLE = 'GET /v1/decisions/stream?startup=true'
const CHANGES = 'GET /v1/decisions/stream?startup=false'

t.test('durations as Go writes them', async (t) => {
  for (const [text, milliseconds] of [
    ['3h59m2s', 14_342_000],
    ['2m53.949221341s', 173_949.221341],
    ['300ms', 300],
    ['5µs', 0.005],
    ['-1m5s', -65_000],
    ['+4h', 14_400_000],
    ['0', 0],
  ] as const) {
    t.equal(parseGoDuration(text), milliseconds, text)
  }
  for (const text of ['', '-', 'h', '4', '4x', '4h 5m', '4hours', '1e3s', '--4h', '.s'])
    t.equal(parseGoDuration(text), undefined, JSON.stringify(text))
})

const opened = (t: Test, crowdsec: LocalCrowdsec) =>
  openListed(t, {
    ...madeConfig(t.testdirName),
    lists: { crowd: { crowdsec: crowdsec.url, key: BOUNCER_KEY, refresh: '1s' } },
    policy: { preset: 'observe', rules: [{ id: 'crowd', match: { address: ['list:crowd'] }, action: 'block' }] },
    net: { allowPrivate: ['127.0.0.1/32'] },
  })

t.test('decisions of CrowdSec are a list that follows them', async (t) => {
  t.testdir()
  const crowdsec = await openLocalCrowdsec(t)
  const first = crowdsec.add({ value: '8.4.0.1' })
  crowdsec.add({ scope: 'Range', value: '8.4.7.0/24' })
  for (const passed of [
    { value: '8.4.0.2', simulated: true },
    { value: '8.4.0.3', type: 'captcha' },
    { value: '8.4.0.4', origin: 'sallyport' },
    { scope: 'Username', value: 'mallory' },
  ])
    crowdsec.add(passed)
  const { of, notices, sallyport } = await opened(t, crowdsec)
  t.same(['8.4.0.1', '8.4.7.9'].map(of), ['block', 'block'])
  t.same(['8.4.0.2', '8.4.0.3', '8.4.0.4'].map(of), ['allow', 'allow', 'allow'], 'simulated, of another type, ours')
  t.match(sallyport.sources().at(-1), { id: 'list:crowd', state: 'loaded', entries: 2 })

  crowdsec.add({ value: '8.4.0.5' })
  crowdsec.add({ value: '8.4.0.1' })
  await until(() => of('8.4.0.5') === 'block')
  crowdsec.delete(first)
  await until(() => crowdsec.asked.filter((one) => one.startsWith(CHANGES)).length >= 3)
  t.equal(of('8.4.0.1'), 'block', 'another decision about it stays')
  t.equal(crowdsec.asked.filter((one) => one.startsWith(WHOLE)).length, 1, 'what changed is asked for')
  for (const { id } of [...crowdsec.decisions]) crowdsec.delete(id)
  await until(() => of('8.4.0.1') !== 'block')
  t.equal(of('8.4.7.9'), 'allow', 'that all are gone is no sign of a list that was cut off')
  t.same(notices, [])
})

t.test('while CrowdSec is away what it had decided stays, over a restart too, and it is said', async (t) => {
  const folder = t.testdir()
  const crowdsec = await openLocalCrowdsec(t)
  crowdsec.add({ value: '8.4.0.1' })
  const { of, notices, sallyport } = await opened(t, crowdsec)
  t.equal(of('8.4.0.1'), 'block')
  while (of('8.4.0.2') !== 'block') {
    // On a busy machine it may have ended before it is read.
    crowdsec.add({ value: '8.4.0.2', duration: '1.2s' })
    for (let looks = 0; looks < 100 && of('8.4.0.2') !== 'block'; looks++) await delay(20)
  }
  crowdsec.fail(500)
  await until(() => of('8.4.0.2') !== 'block')
  t.equal(of('8.4.0.1'), 'block', 'one that has ended is gone without an answer')
  await until(() => notices.length > 0)
  t.match(notices, [/^list crowd: CrowdSec responded with 500\. Its previous decisions stay in use\. To .+crowd\.$/])
  await sallyport.close()
  t.notMatch(readFileSync(join(folder, 'state/lists/crowd'), 'utf8'), BOUNCER_KEY)

  const again = await opened(t, crowdsec)
  t.equal(again.of('8.4.0.1'), 'block')
  const before = crowdsec.asked.length
  crowdsec.fail(undefined)
  crowdsec.add({ value: '8.4.0.6' })
  await until(() => again.of('8.4.0.6') === 'block')
  t.match(crowdsec.asked[before], WHOLE, 'all is asked for after a failure')
  await again.sallyport.close()

  rmSync(join(folder, 'state/lists/crowd'))
  crowdsec.fail(403)
  const refused = await opened(t, crowdsec)
  t.match(refused.notices, [/CrowdSec responded with 403\. The list is empty/])
})

t.test('ten times as many decisions are taken once the copy is deleted', async (t) => {
  const folder = t.testdir()
  const crowdsec = await openLocalCrowdsec(t)
  const add = (count: number, net: number) => {
    for (let host = 0; host < count; host++) crowdsec.add({ value: `8.${net}.${host >> 8}.${host & 255}` })
  }
  add(20, 4)
  const { of, notices } = await opened(t, crowdsec)
  add(500, 5)
  await until(() => of('8.5.0.1') === 'block')
  t.same(notices, [], 'an attack may bring hundreds')
  add(11_000, 6)
  await until(() => notices.length > 0)
  t.match(notices, [/^list crowd: CrowdSec has 11,520 entries, but had 520 before\. Its previous decisions stay/])
  t.equal(of('8.6.0.1'), 'allow')
  const refused = crowdsec.asked.length
  await until(() => crowdsec.asked.length > refused)
  t.ok(crowdsec.asked[refused]?.startsWith(WHOLE), 'what was not taken is in no change since, so all is asked for')
  const asked = crowdsec.asked.length
  crowdsec.add({ value: '8.4.1.1' })
  rmSync(join(folder, 'state/lists/crowd'))
  await until(() => of('8.6.0.1') === 'block')
  t.match(crowdsec.asked.slice(asked).join(), WHOLE, 'all is asked for again')
})

t.test('its key is a secret, and the list is named in the configuration', async (t) => {
  const key = join(t.testdir({ key: `${BOUNCER_KEY}\n` }), 'key')
  const file = join(t.testdirName, 'sallyport.yaml')
  writeFileSync(file, `lists: { crowd: { crowdsec: "http://127.0.0.1:8080", key: "file:${key}" } }\n`)
  const read = readConfigFrom({ file })
  t.match(read.config.lists['crowd'], { crowdsec: 'http://127.0.0.1:8080', key: BOUNCER_KEY, refresh: 10_000 })
  t.notMatch(JSON.stringify(listSettings(read)), BOUNCER_KEY)
  t.match(placedLists(read.config), [{ name: 'crowd', from: 'crowdsec', place: '127.0.0.1:8080', fixed: /cscli/ }])
  rmSync(key)
  t.throws(() => readConfigFrom({ file }), { message: /^[^\n]*lists\.crowd\.key: .*key does not exist$/ }, 'said once')
  for (const crowd of [
    { crowdsec: 'http://127.0.0.1:8080' },
    { crowdsec: 'ftp://127.0.0.1', key: BOUNCER_KEY },
    { url: 'https://a.example', crowdsec: 'http://127.0.0.1:8080', key: BOUNCER_KEY },
  ]) {
    t.throws(() => readConfigFrom({ flags: { lists: { crowd } } as never }), { code: 'invalid_config' })
  }
})
