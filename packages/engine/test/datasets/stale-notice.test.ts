import t from 'tap'
import { staleNotice } from '../../src/datasets/service/stale-notice.ts'
import { dataConfig } from './feed-rig.ts'

const DAY = '2026-11-25T00:00:00Z'
const NOW = Date.parse(DAY)

function source(id: string, more: object = {}) {
  return { id, title: id, state: 'loaded', licence: '', credit: '', ...more } as const
}

t.test('old data, its age, and the command', async (t) => {
  const sources = [
    source('fresh', { date: '2026-11-24', staleAfter: '2026-12-24T00:00:00Z' }),
    source('old', { date: '2026-10-24', staleAfter: '2026-11-01T00:00:00Z' }),
    source('older', { date: '2026-08-17', staleAfter: '2026-09-01T00:00:00Z' }),
    source('undated'),
    { ...source('gone', { staleAfter: '2026-09-01T00:00:00Z' }), state: 'absent' as const },
  ]
  const said = (data: object, cities: boolean, some = sources) =>
    staleNotice(dataConfig('/srv/state', data), some, { cities, now: NOW })
  t.equal(
    said({ refresh: false }, true),
    '2 of 4 data sources are stale; the oldest, older, is 100 days old (2026-08-17). ' +
      'To update, run npx sallyport data update --data-dir "/srv/state"',
  )
  t.match(
    said({ refresh: true }, false),
    /; no city database is loaded\. This service downloads newer data\. To update now, run npx/,
  )
  t.match(said({ refresh: true, readOnly: true }, false), /To update, run npx/)
  t.match(said({ refresh: true }, false, sources.slice(0, 1)), /^No city database is loaded\. /)
  t.equal(said({ city: false }, false, sources.slice(0, 1)), undefined, 'nothing is missing that nobody wants')
  t.equal(said({ refresh: true }, true, sources.slice(0, 1)), undefined)
})
