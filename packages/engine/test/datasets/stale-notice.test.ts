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
    '2 of 4 data sources are past their age; the oldest, older, is of 2026-08-17, 100 days ago. ' +
      'Update with npx sallyport data update --data-dir "/srv/state"',
  )
  t.match(
    said({ refresh: true }, false),
    /; no city database is loaded\. This service downloads what is newer, and so does npx/,
  )
  t.match(said({ refresh: true, readOnly: true }, false), /Update with npx/)
  t.match(said({ refresh: true }, false, sources.slice(0, 1)), /^No city database is loaded\. /)
  t.equal(said({ city: false }, false, sources.slice(0, 1)), undefined, 'nothing is missing that nobody wants')
  t.equal(said({ refresh: true }, true, sources.slice(0, 1)), undefined)
})
