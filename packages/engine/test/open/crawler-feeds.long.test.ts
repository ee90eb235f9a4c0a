import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { openFeedServer, type Served } from '#datasets/testing'
import { type ConfigInput, open, openUpdates } from '../../src/open/index.ts'
import { madeConfig } from './made-sources.ts'

/** A monitor whose operator publishes addresses and nothing else, so that its list alone decides. */
const LIST = 'bot-hetrixtools'

const OWN = '8.2.0.77'
const FORGED = '8.1.0.1'
const DAY_MS = 86_400_000

/** Refused lists are reported; other tests look at that. */
const QUIET = { onNotice: () => {} }

/** Outcome of the claim from the operator's own address, and from another, with such a file for its list. */
async function outcomesWith(t: Test, text: string | undefined, ageDays = 0) {
  const folder = t.testdir()
  const file = join(folder, 'list.txt')
  if (text !== undefined) {
    writeFileSync(file, text)
    const then = new Date(Date.now() - ageDays * DAY_MS)
    utimesSync(file, then, then)
  }
  return outcomesOf(configWith(folder, pathToFileURL(file).href))
}

function configWith(folder: string, url: string): ConfigInput {
  const made = madeConfig(folder)
  const sources = { ...made.data?.sources, [LIST]: { url } }
  return {
    ...made,
    data: { ...made.data, sources },
    dns: { servers: ['127.0.0.1:9'] },
    net: { allowPrivate: ['127.0.0.1/32'] },
  }
}

/** The outcomes now and, with `laterDays`, also so many days later. */
async function outcomesOf(config: ConfigInput, laterDays?: number) {
  let now = Date.now()
  const sallyport = await open(config, { ...QUIET, clock: { now: () => now } })
  const outcomes = () =>
    [OWN, FORGED].map((peer) => {
      const fields = [
        'User-Agent',
        'HetrixTools Uptime Monitoring Bot. https://hetrix.tools/uptime-monitoring-bot.html',
      ]
      const request = { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields } as const
      return sallyport.inspect(request).crawler?.outcome
    })
  const first = outcomes()
  now += (laterDays ?? 0) * DAY_MS
  const all = laterDays === undefined ? first : [...first, ...outcomes()]
  await sallyport.close()
  return all
}

/** Answers of an operator's server in place of its list. */
const NO_LIST: Readonly<Record<string, Served>> = {
  '404': (_, response) => response.writeHead(404).end('not here'),
  'an empty file': '',
  'a web page': '<!doctype html><title>Sign in</title>\n<p>8.1.0.1</p>\n',
  'the whole internet': '0.0.0.0/0\n',
  'the whole internet beside a list': `${OWN}\n0.0.0.0/0\n`,
  'the whole internet, in halves': '0.0.0.0/1\n128.0.0.0/1\n',
  'both families whole': '0.0.0.0/0\n::/0\n',
}

/** Served one after the other: a refused list leaves nothing behind that the next one could rest on. */
t.test('an operator’s server that has no list to give accuses nobody and confirms nobody', async (t) => {
  const server = await openFeedServer(t)
  const config = configWith(t.testdir(), server.url('/list'))
  for (const [what, served] of Object.entries(NO_LIST)) {
    server.serve('/list', served)
    const asked = server.asked.length
    t.match(await openUpdates(config).update({ source: LIST }), [{ state: /refused|failed/ }], what)
    t.ok(server.asked.length > asked, what)
    t.same(await outcomesOf(config), ['unverifiable', 'unverifiable'], what)
  }
})

t.test(
  'and takes nothing away from the list before, which confirms however old it gets, and refutes for its time',
  async (t) => {
    const server = await openFeedServer(t)
    server.serve('/list', `${OWN}\n8.2.1.0/24\n`)
    const config = configWith(t.testdir(), server.url('/list'))
    t.match(await openUpdates(config).update({ source: LIST }), [{ state: 'updated' }])
    for (const [what, served] of Object.entries(NO_LIST)) {
      server.serve('/list', served)
      t.match(await openUpdates(config).update({ source: LIST }), [{ state: /refused|failed/ }], what)
      t.same(
        await outcomesOf(config, 15),
        ['verified', 'spoofed', 'verified', 'unverifiable'],
        `${what}, and days later`,
      )
    }
  },
)

t.test('a list that is fresh confirms and refutes', async (t) => {
  t.same(await outcomesWith(t, `${OWN}\n8.2.1.0/24\n`), ['verified', 'spoofed'])
})

t.test('one that is old confirms and accuses nobody', async (t) => {
  t.same(await outcomesWith(t, `${OWN}\n8.2.1.0/24\n`, 400), ['verified', 'unverifiable'])
})

t.test('one that is missing, empty, a page or cut off accuses nobody and confirms nobody', async (t) => {
  for (const text of [undefined, '', '<!doctype html><title>Not found</title>', '{"prefixes":[{"ipv4Pre']) {
    t.same(await outcomesWith(t, text), ['unverifiable', 'unverifiable'], String(text))
  }
})

t.test('one that claims the whole internet says nothing', async (t) => {
  for (const text of ['0.0.0.0/0\n', '::/0\n', '0.0.0.0/1\n128.0.0.0/1\n']) {
    t.same(await outcomesWith(t, text), ['unverifiable', 'unverifiable'], text)
  }
})
