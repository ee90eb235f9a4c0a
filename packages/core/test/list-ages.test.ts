import { LIST_AGES } from '@sallyport/data/list-ages'
import t from 'tap'
import { parseAddress } from '../src/address/address.ts'
import { lastTrue, lifeDays, listKind, shareKept } from '../src/network/ages.ts'
import { classify } from '../src/network/classify.ts'
import type { RangeHit, SourceStatus } from '../src/ports/index.ts'
import { createFakeClock, createFakeNetworks, hitOf, snapshotOf } from '../src/testing/fakes.ts'

t.test('every kind begins whole, falls, and says how long it is good', async (t) => {
  const odd = LIST_AGES.filter(({ kept, goodDays, note }) => {
    const isFalling = kept.every(([day, share], at) => {
      const [dayBefore, shareBefore] = kept[at - 1] ?? [-1, 1.01]
      return day > dayBefore && share < shareBefore && share > 0.5
    })
    return !isFalling || kept[0]?.join() !== '0,1' || goodDays <= 0 || note === ''
  })
  t.same(odd, [])
})

t.test('the share that is kept is linear between what was measured', async (t) => {
  t.same(
    [-3, 0, 1, 7, 30, 90, 900].map((days) => shareKept('tor', days)),
    [1, 1, 0.993, 0.914, 0.89, 0.77, 0.77],
  )
  t.equal(Math.round(shareKept('tor', 4) * 1e4), 9535)
  t.ok(shareKept('service', 182) > shareKept('tor', 2) - 0.01, 'half a year of one is two days of the other')
  t.equal(lifeDays('tor'), 90)
})

t.test('lists age by what they hold', async (t) => {
  const list = { single: true, isPublished: false }
  t.equal(listKind({ ...list, networkClass: 'tor' }), 'tor')
  t.equal(listKind({ ...list, networkClass: 'vpn' }), 'service')
  t.equal(listKind({ ...list, single: false, networkClass: 'vpn' }), 'range')
  t.equal(listKind({ ...list, networkClass: 'residential_proxy' }), 'proxy')
  t.equal(listKind({ ...list, networkClass: 'datacenter', isPublished: true }), 'crawler')
})

t.test('a list that is always rebuilt has its own age, others that of their publisher', async (t) => {
  const known = { date: '2026-10-22', checked: '2026-11-21T00:00:00Z' }
  t.equal(lastTrue(known, 'tor'), Date.parse('2026-10-22'))
  t.equal(lastTrue(known, 'service'), Date.parse('2026-11-21'))
  t.equal(lastTrue({ checked: known.checked }, 'tor'), Date.parse('2026-11-21'))
  t.equal(lastTrue({}, 'tor'), undefined)
})

t.test('a verdict is as sure as its list is young', async (t) => {
  const address = parseAddress('8.1.1.1')
  if (address === undefined) return t.fail('an address')
  const sure = (range: RangeHit, status: Partial<SourceStatus> = {}) =>
    classify(
      address,
      snapshotOf({
        networks: createFakeNetworks([['8.0.0.0/8', { range, also: [] }]]),
        sources: [{ id: range.source, title: '', state: 'loaded', licence: '', credit: '', ...status }],
        clock: createFakeClock('2026-11-21T00:00:00Z'),
      }),
    ).verdict.confidence
  const tor = hitOf({ networkClass: 'tor', single: true, narrow: true, trust: 1, source: 'tor-bulk-exit' })
  const ages = { '2026-11-21': 1, '2026-11-20': 0.99, '2026-11-14': 0.91, '2026-10-22': 0.89, '2026-08-23': 0.77 }
  for (const [date, confidence] of Object.entries(ages)) t.equal(sure({ ...tor, date }), confidence, date)
  const asked = { checked: '2026-11-21T00:00:00Z' }
  t.equal(sure({ ...tor, date: '2026-10-22' }, asked), 0.89, 'a copy that is confirmed is no younger')
  const servers = { ...tor, networkClass: 'vpn', source: 'protonvpn-exit', date: '2026-05-23' } as const
  t.equal(sure(servers), 0.98, 'half a year')
  t.equal(sure(servers, asked), 1, 'confirmed today')
})
