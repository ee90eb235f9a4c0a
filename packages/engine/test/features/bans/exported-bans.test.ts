import type { Ban } from '@sallyport/core'
import t from 'tap'
import { parseConfig } from '../../../src/config/parse.ts'
import { exportedBan, exportedBans } from '../../../src/features/bans/exported-ban.ts'

const STRIKES = { count: 3, window: '10m', on: ['blocked' as const], for: '1h' }

function makeBan(key: string, more: Partial<Ban> = {}): Ban {
  return { id: 'a', key, on: 'blocked', count: 3, since: 1_000, until: 3_601_000, ...more }
}

t.test('bans of whole addresses are exported, and no others', async (t) => {
  const config = parseConfig({ policy: { strikes: STRIKES } })
  for (const [key, target] of [
    ['client 198.51.100.7', '198.51.100.7'],
    ['client 2001:db8::/64', '2001:db8::/64'],
    ['client 2001:db8::7/128', '2001:db8::7'],
    ['client 198.51.100.7 browser abcdefghijkl', undefined],
    ['client no-address', undefined],
    ['user 198.51.100.7', undefined],
  ] as const) {
    t.equal(exportedBan(makeBan(key), config), target, key)
  }
  const twice = [5_000, 9_000].map((until) => makeBan('client 198.51.100.7', { until }))
  t.same([...exportedBans(twice, config)], ['198.51.100.7'], 'once')
})

t.test('what is not refused here is not exported', async (t) => {
  const asks = parseConfig({
    challenge: { secret: 'x'.repeat(32) },
    policy: { limits: ['scanner-guard'], strikes: { ...STRIKES, then: 'challenge' } },
  })
  t.equal(exportedBan(makeBan('client 198.51.100.7'), asks), undefined, 'it is asked')
  t.equal(exportedBan(makeBan('client 198.51.100.7', { on: 'probe' }), asks), '198.51.100.7')
  for (const on of ['decoy:led', 'probe:led'])
    t.equal(exportedBan(makeBan('client 198.51.100.7', { on }), parseConfig({})), undefined, on)
  t.equal(exportedBan(makeBan('client 198.51.100.7'), parseConfig({ mode: 'monitor' })), undefined)
})
