import { appendFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { listening } from '@sallyport/engine/testing'
import { BIN, makeFolder, started } from '@sallyport/test/dist/started.js'
import t, { type Test } from 'tap'
import { type Feeds, snapshotFeeds } from '../accuracy/feeds.ts'
import { isSharedDataHere } from '../accuracy/shared.ts'
import { peak } from '../proxy/processes.ts'

/*
 * A small server: everything but places, in one process with the settings that docs/sources.md advises for 512 MB. What Linux has ever
 * counted as resident is held against that, which is more than a memory limit counts: the program's file is in it.
 */
const LIMIT_MB = (512 * 2 ** 20) / 1e6
const ADVISED = { NODE_OPTIONS: '--max-old-space-size=256', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '2' }

const LIST = 'x4bnet-vpn-ipv4'
const REQUESTS = 20_000
const IN_FLIGHT = 32

/** Writes a configuration with every part that takes memory, but for places. */
async function writeConfig(t: Test, folder: string, feeds: Feeds): Promise<string> {
  const origin = createServer((_, response) => response.end('ok'))
  const upstream = `http://127.0.0.1:${await listening(t, origin)}`
  const limit = { key: 'client', max: 100, window: '1m' }
  const config = {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    upstream,
    trustProxy: ['loopback'],
    dataDir: join(folder, 'data'),
    log: { requests: 'all', file: join(folder, 'decisions.log') },
    policy: { preset: 'stop-scrapers', rules: [{ id: 'pace', match: {}, limit, action: 'throttle' }] },
    challenge: { secret: 'a secret of this test, and of no other' },
    lists: { partners: ['198.51.100.0/24'] },
    data: { city: false, sources: feeds },
    // Files of the user are looked at all the same.
    net: { outbound: false },
    limits: { eventLoopDelay: '1m' },
  }
  const path = join(folder, 'sallyport.yaml')
  writeFileSync(path, JSON.stringify(config))
  return path
}

async function visit(url: string): Promise<void> {
  let left = REQUESTS
  const visitor = async () => {
    while (left-- > 0) {
      const address = `${11 + (left % 180)}.${(left >> 3) & 255}.${(left * 7) & 255}.${left & 127}`
      const headers = { 'x-forwarded-for': address, 'user-agent': `Mozilla/5.0 (X11; Linux x86_64) Test/${left % 50}` }
      await (await fetch(`${url}/page/${left % 500}`, { headers })).text()
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, visitor))
}

async function readGeneration(admin: string): Promise<string | undefined> {
  const answer = await fetch(`${admin}/sources`)
  const { sources } = (await answer.json()) as { sources: { id: string; generation?: string | undefined }[] }
  return sources.find(({ id }) => id === LIST)?.generation
}

const skip = isSharedDataHere ? false : 'the lists are not here (SALLYPORT_SHARED_DATA names their folder)'

t.test('512 MB are enough for everything but places, the first start and a refresh included', { skip }, async (t) => {
  const folder = makeFolder(t)
  const config = await writeConfig(t, folder, snapshotFeeds(join(folder, 'feeds')))
  const proxy = await started(t, [BIN, 'proxy', '--config', config], ADVISED, '/readyz')
  const [, url = '', admin = ''] = /Listening on (http:\S+),.*\nHealth at (http:\S+)\/readyz/.exec(proxy.err()) ?? []
  const below = (what: string) => {
    const megabytes = peak(proxy.pid)
    t.ok(megabytes < LIMIT_MB, `${what}: at most ${megabytes.toFixed(0)} MB were resident, of ${LIMIT_MB.toFixed(0)}`)
  }
  below('the first start, which compiles')
  await visit(url)
  below(`${REQUESTS} requests of as many visitors`)

  const before = await readGeneration(admin)
  appendFileSync(join(folder, 'feeds', LIST), '\n185.220.103.0/24\n')
  while ((await readGeneration(admin)) === before) await new Promise((resolve) => setTimeout(resolve, 250))
  await visit(url)
  below('a refresh, which compiles beside requests')
  t.equal(await proxy.stop(), 0)
})
