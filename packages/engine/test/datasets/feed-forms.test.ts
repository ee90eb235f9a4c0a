import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { readContents } from '../../src/datasets/parse/contents.ts'
import { openFeedRig } from './feed-rig.ts'

/* Every list that an installation downloads must be readable in its present form. */

type FeedForm = Readonly<{ ids: readonly string[]; seen: string; by: string; text: string; entries: number }>

/** Made files in the form that these feeds had on a day, who published or read it so, and how many entries it has. */
const FORMS = readFileSync(join(import.meta.dirname, '../../../test/datasets/feed-forms.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): FeedForm => JSON.parse(line))

const FEEDS = SOURCES.filter(
  ({ enabled, url, refreshHours }) => enabled && url !== undefined && refreshHours !== undefined,
)
const findRow = (id: string) => FEEDS.find((row) => row.id === id) as SourceRow

t.test('every default feed has a sample of its form, which is read, and no page in its place', async (t) => {
  const sampled = FORMS.flatMap(({ ids }) => ids)
  // A database of cities is made in the tests of those.
  t.same([...sampled, 'dbip-city-lite'].sort(), FEEDS.map(({ id }) => id).sort())
  for (const { seen, by } of FORMS) t.ok(/^202[56]-\d\d(-\d\d)?$/.test(seen) && by !== '', seen)
  for (const { ids, seen, text, entries } of FORMS) {
    for (const id of ids) {
      const read = (bytes: string) => readContents(findRow(id), { path: id, bytes: Buffer.from(bytes) })
      t.same([read(text).entries, read(text).left ?? 0], [entries, 0], `${id}, as of ${seen}`)
      t.throws(() => read('<!DOCTYPE html><html><body>Moved</body></html>'), { code: 'corrupt_data' }, id)
    }
  }
})

const ID = 'gluetun-servers'
const writeServers = (...ips: readonly string[]) =>
  JSON.stringify({ version: 4, timestamp: 1_788_251_692, servers: [{ ips }] })
const makeIndex = (...names: readonly string[]) => {
  const files = names.map((name) => [name, { filepath: `/gluetun/servers/${name}.json` }])
  return JSON.stringify({ version: 1, ...Object.fromEntries(files) })
}

t.test('an index is followed to the files beside it, and no further', async (t) => {
  const rig = await openFeedRig(t, [ID])
  rig.server.serve('/mullvad.json', writeServers('23.0.0.1', '23.0.0.2'))
  rig.server.serve('/private%20internet%20access.json', writeServers('23.0.1.1'))
  const index = makeIndex('mullvad', 'private internet access', 'gone')
  t.match(await rig.update(ID, index), { state: 'updated', entries: 3 })
  const asked = rig.server.asked.map(({ url }) => url)
  t.same(asked, [`/${ID}`, '/mullvad.json', '/private%20internet%20access.json', '/gone.json'])
  t.same(Object.keys(JSON.parse(rig.inUse(ID) ?? '')), ['mullvad', 'private internet access'])
  t.match(await rig.update(ID), { state: 'unchanged' })
  rig.server.serve('/mullvad.json', writeServers('23.0.0.1', '23.0.0.3'))
  t.match(await rig.update(ID), { state: 'updated' }, 'a file has changed and the index has not')
  const elsewhere = { filepath: 'https://elsewhere.example/lists/mullvad.json?key=..' }
  t.match(await rig.update(ID, JSON.stringify({ mullvad: elsewhere, up: { filepath: '../..' } })), { state: 'failed' })
  t.equal(rig.server.asked.at(-1)?.url, '/mullvad.json%3Fkey%3D..', 'a name, whatever it looks like')
})

t.test('an index that fails leaves the last good list, with the reason', async (t) => {
  const rig = await openFeedRig(t, [ID])
  const ips = Array.from({ length: 20 }, (_, at) => `23.0.0.${at}`)
  rig.server.serve('/mullvad.json', writeServers(...ips))
  t.match(await rig.update(ID, makeIndex('mullvad')), { state: 'updated', entries: 20 })
  const good = rig.inUse(ID)
  const page = '<!DOCTYPE html><html><title>Sign in</title></html>'
  const many = Array.from({ length: 65 }, (_, at) => `service ${at}`)
  rig.server.serve('/torn.json', writeServers(...ips).slice(0, 40))
  rig.server.serve('/busy.json', (_, response) => response.writeHead(503).end())
  rig.server.serve('/moved.json', (_, response) => response.writeHead(302, { location: '/mullvad.json' }).end())
  rig.server.serve('/page.json', page)
  for (const [what, index, reason] of [
    ['a page', page, /not a complete JSON document/],
    ['no file is there', makeIndex('gone', 'lost'), /no file that the index names exists/],
    ['one is cut off', makeIndex('mullvad', 'torn'), /not a complete JSON document/],
    ['one is a page', makeIndex('mullvad', 'page'), /not a complete JSON document/],
    ['one is busy', makeIndex('mullvad', 'busy'), /busy\.json of the index: the server responded with status 503/],
    ['one has moved', makeIndex('mullvad', 'moved'), /moved\.json of the index/],
    ['too many', makeIndex(...many), /names more than 64 files/],
    ['an index of another form', '{"services":["mullvad"]}', /no line could be read/],
  ] as const) {
    const outcome = await rig.update(ID, index)
    t.match(outcome, { state: /refused|failed/, reason }, what)
    t.equal(rig.inUse(ID), good, what)
    t.match(rig.store.read(ID, rig.feed(ID).url), { error: reason, current: { entries: 20 } }, what)
  }
})
