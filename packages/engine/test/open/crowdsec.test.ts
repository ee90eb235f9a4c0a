import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type ConfigInput, open } from '../../src/open/index.ts'
import { type LocalCrowdsec, MACHINE, openLocalCrowdsec } from './local-crowdsec.ts'
import { madeConfig } from './made-sources.ts'
import { requestFrom } from './requests.ts'

const ALERTS = 'POST /v1/alerts'

async function opened(t: Test, crowdsec: LocalCrowdsec, config: ConfigInput = {}) {
  const notices: string[] = []
  const folder = t.testdir()
  const sallyport = await open(
    {
      ...madeConfig(folder),
      counting: { place: 'memory' },
      log: { requests: 'off', file: join(folder, 'log') },
      net: { allowPrivate: ['127.0.0.1/32'] },
      bans: { export: { crowdsec: { url: crowdsec.url, ...MACHINE } } },
      policy: {
        rules: [{ id: 'no', match: { path: ['/no'] }, action: 'block' }],
        strikes: { key: 'address', count: 1, window: '10m', on: ['blocked'], for: '1h' },
      },
      ...config,
    },
    { onNotice: (code, message) => code === 'SALLYPORT_BAN_EXPORT' && void notices.push(message) },
  )
  t.teardown(() => sallyport.close())
  /** Does a wrong, and is banned. */
  const ban = async (peer: string): Promise<void> => {
    const { ended } = await sallyport.count(sallyport.decide({ ...requestFrom(peer), target: '/no' }))
    ended?.(403)
  }
  const logged = (): string => readFileSync(join(folder, 'log'), 'utf8')
  return { sallyport, ban, notices, logged }
}

t.test('a ban is an alert with its decision, and one that is lifted is deleted', async (t) => {
  const crowdsec = await openLocalCrowdsec(t)
  const { sallyport, ban } = await opened(t, crowdsec)
  await ban('8.4.0.1')
  await ban('2001:4860::7')
  while (crowdsec.decisions.length < 2) await delay(5)
  t.match(crowdsec.decisions, [
    {
      origin: 'sallyport',
      type: 'ban',
      scope: 'Ip',
      value: '8.4.0.1',
      scenario: 'sallyport/strikes',
      duration: /^3600s$/,
    },
    { origin: 'sallyport', type: 'ban', scope: 'Range', value: '2001:4860::/64' },
  ])
  t.match(crowdsec.alert, { source: { scope: 'Range', value: '2001:4860::/64' }, events_count: 1, simulated: false })
  t.match(await sallyport.exportedBans(), ['8.4.0.1', '2001:4860::/64'])
  t.equal(crowdsec.asked.filter((one) => one === 'POST /v1/watchers/login').length, 1)

  const [first] = await sallyport.bans.list()
  await sallyport.bans.lift(first?.id ?? '')
  await crowdsec.until('DELETE /v1/decisions')
  t.equal(crowdsec.decisions.length, 1)
  t.notMatch(crowdsec.decisions, [{ value: first?.key.slice('client '.length) }])
  const sent = 'sallyport_ban_exports_total{to="crowdsec",outcome="sent"} 3'
  while (!(await sallyport.metrics().metrics()).includes(sent)) await delay(20)
})

t.test('while CrowdSec is away bans wait, no request does, and it is said once', async (t) => {
  const crowdsec = await openLocalCrowdsec(t)
  crowdsec.fail(503)
  const { ban, notices, logged } = await opened(t, crowdsec)
  await ban('8.4.0.1')
  await crowdsec.until('POST /v1/watchers/login')
  await ban('8.4.0.2')
  while (notices.length === 0) await delay(5)
  t.match(notices, [/^bans\.export\.crowdsec: bans hold here alone: the sign-in is answered with 503$/])
  crowdsec.fail(undefined)
  while (crowdsec.decisions.length < 2) await delay(5)
  while (notices.length < 2) await delay(5)
  t.match(notices, [/alone/, /reached again/])
  while (!logged().includes('ban export back')) await delay(20)
  t.match(logged(), /"audit":"ban export lost".*"place":"crowdsec"/)
  t.match(logged(), /"audit":"ban","who":"service","details":\{"address":"8\.4\.0\.1","seconds":3600,"rule":"strikes"/)
})

t.test('a session that has ended begins again, and a wrong password is said without it', async (t) => {
  const crowdsec = await openLocalCrowdsec(t)
  const { ban } = await opened(t, crowdsec)
  await ban('8.4.0.1')
  await crowdsec.until(ALERTS)
  crowdsec.forget()
  await ban('8.4.0.2')
  while (crowdsec.decisions.length < 2) await delay(5)
  const wrong = { url: crowdsec.url, machine: 'gate', password: 'not the password' }
  const other = await opened(t, crowdsec, { bans: { export: { crowdsec: wrong } } })
  await other.ban('8.4.0.3')
  while (other.notices.length === 0) await delay(5)
  t.match(other.notices, [/the sign-in is answered with 403$/])
  t.equal(crowdsec.decisions.length, 2)
})

t.test('in monitor mode nothing is exported, and outbound requests pass the guard', async (t) => {
  const crowdsec = await openLocalCrowdsec(t)
  const monitoring = await opened(t, crowdsec, { mode: 'monitor' })
  await monitoring.ban('8.4.0.1')
  while ((await monitoring.sallyport.bans.list()).length === 0) await delay(5)
  t.same(await monitoring.sallyport.exportedBans(), [])
  const guarded = await opened(t, crowdsec, { net: { allowPrivate: [] } })
  await guarded.ban('8.4.0.1')
  while (guarded.notices.length === 0) await delay(5)
  t.match(guarded.notices, [/bans hold here alone: .*127\.0\.0\.1/])
  t.same(crowdsec.asked, [])
})
