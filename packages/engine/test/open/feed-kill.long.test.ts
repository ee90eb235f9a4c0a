import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openFeedStore } from '#datasets'
import { madeList, openFeedServer } from '#datasets/testing'
import { open, openUpdates } from '../../src/open/index.ts'
import { feedConfig } from './made-sources.ts'

/** `npm run fault` has more kills. */
const KILLS = process.env['TEST_LENGTH'] === 'full' ? 100 : 1
const LIST = 'x4bnet-vpn-ipv4'

t.test(`killed at a random point, a restart finds a whole generation (${KILLS} times)`, async (t) => {
  const server = await openFeedServer(t)
  let version = 0
  // Another list with every request, in pieces, so that there is always something to be torn.
  server.serve('/list', (_, response) => {
    const text = madeList(400 + (version++ % 50))
    response.write(text.slice(0, 3000))
    setTimeout(() => response.end(text.slice(3000)), 5)
  })
  const url = server.url('/list')
  const whole = feedConfig(t.testdir(), { [LIST]: url })
  const store = openFeedStore(String(whole.dataDir))
  await openUpdates(whole).update()
  for (let kill = 0; kill < KILLS; kill++) {
    const child = fork(join(import.meta.dirname, 'feed-updater.js'), [JSON.stringify(whole)])
    const gone = once(child, 'exit')
    await once(child, 'message')
    await delay(Math.random() * 400)
    child.kill('SIGKILL')
    await gone
    const file = store.file(LIST, url)
    const bytes = readFileSync(file?.path ?? '')
    const count = bytes.toString().split('\n').length - 1
    t.ok(bytes.toString() === madeList(count), 'one whole list')
    const { current } = store.read(LIST, url)
    t.equal(createHash('sha256').update(bytes).digest('hex').slice(0, 16), current?.id, 'the one that the state names')
    const sallyport = await open(whole)
    t.match(
      sallyport.sources().find(({ id }) => id === LIST),
      { state: 'loaded', entries: count },
    )
    t.equal((await sallyport.lookup('23.0.7.1')).verdict.classification, 'vpn')
    await sallyport.close()
  }
})
