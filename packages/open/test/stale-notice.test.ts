import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { parseConfig } from '../src/config/read.ts'
import { staleNotice } from '../src/data/stale-notice.ts'
import type { NoticeCode } from '../src/hooks.ts'
import { open } from '../src/open.ts'
import { madeConfig, oneNodeDatabase } from './made-sources.ts'

const DAY = '2026-11-25T00:00:00Z'
const NOW = Date.parse(DAY)

function source(id: string, more: object = {}) {
  return { id, title: id, state: 'loaded', licence: '', credit: '', ...more } as const
}

t.test('old data, its age, and the command', async (t) => {
  const config = parseConfig({ dataDir: '/srv/state' })
  const sources = [
    source('fresh', { date: '2026-11-24', staleAfter: '2026-12-24T00:00:00Z' }),
    source('old', { date: '2026-10-24', staleAfter: '2026-11-01T00:00:00Z' }),
    source('older', { date: '2026-08-17', staleAfter: '2026-09-01T00:00:00Z' }),
    source('undated'),
    { ...source('gone', { staleAfter: '2026-09-01T00:00:00Z' }), state: 'absent' as const },
  ]
  const said = (data: object, cities: boolean, some = sources) =>
    staleNotice({ ...config, data: { ...config.data, ...data } }, some, { cities, now: NOW })
  t.equal(
    said({ refresh: false }, true),
    '2 of 4 data sources are past their age; the oldest, older, is of 2026-08-17, 100 days ago. ' +
      'It is renewed by npx sallyport data update --data-dir "/srv/state"',
  )
  t.match(
    said({ refresh: true }, false),
    /; no file of cities is there\. This service downloads what is newer, and so does npx/,
  )
  t.match(said({ refresh: true, readOnly: true }, false), /It is renewed by npx/)
  t.match(said({}, false, sources.slice(0, 1)), /^No file of cities is there\. /)
  t.equal(said({ city: false }, false, sources.slice(0, 1)), undefined, 'nothing is missing that nobody wants')
  t.equal(said({}, true, sources.slice(0, 1)), undefined)
})

t.test('it is the first that open() says', async (t) => {
  const said = async (config: Parameters<typeof open>[0]) => {
    const notices: NoticeCode[] = []
    const sallyport = await open(config, { onNotice: (code) => notices.push(code) })
    await sallyport.close()
    return notices
  }
  const folder = t.testdir()
  const config = madeConfig(folder)
  t.same(await said(config), ['SALLYPORT_DATA_STALE'])
  t.same(await said({ ...config, data: { ...config.data, city: false } }), [])
  const file = join(folder, 'city.mmdb')
  writeFileSync(file, oneNodeDatabase())
  const sources = { ...config.data?.sources, city: { url: pathToFileURL(file).href } }
  t.same(await said({ ...config, data: { ...config.data, sources } }), [], 'cities are there')
})
