import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { open } from '../src/open.ts'
import { madeConfig } from './made-sources.ts'

/** A monitor whose operator publishes addresses and nothing else, so that its list alone decides. */
const LIST = 'bot-hetrixtools'

const OWN = '8.2.0.77'
const FORGED = '8.1.0.1'
const DAY_MS = 86_400_000

/** A list that is refused is told of; that is the business of other tests. */
const QUIET = { onNotice: () => {} }

/** What comes of the claim from the operator's own address, and from another, with such a file for its list. */
async function outcomesWith(t: Test, text: string | undefined, ageDays = 0) {
  const folder = t.testdir()
  const file = join(folder, 'list.txt')
  if (text !== undefined) {
    writeFileSync(file, text)
    const then = new Date(Date.now() - ageDays * DAY_MS)
    utimesSync(file, then, then)
  }
  const made = madeConfig(folder)
  const sources = { ...made.data?.sources, [LIST]: { url: pathToFileURL(file).href } }
  const sallyport = await open({ ...made, data: { ...made.data, sources }, dns: { servers: ['127.0.0.1:9'] } }, QUIET)
  const outcomes = [OWN, FORGED].map((peer) => {
    const fields = ['User-Agent', 'HetrixTools Uptime Monitoring Bot. https://hetrix.tools/uptime-monitoring-bot.html']
    const request = { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields } as const
    return sallyport.inspect(request).crawler?.outcome
  })
  await sallyport.close()
  return outcomes
}

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

t.test('one that claims the whole Internet confirms nobody', async (t) => {
  for (const text of ['0.0.0.0/0\n', '::/0\n', '0.0.0.0/1\n128.0.0.0/1\n']) {
    const [, forged] = await outcomesWith(t, text)
    t.not(forged, 'verified', text)
  }
})
