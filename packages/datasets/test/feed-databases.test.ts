import { readFileSync } from 'node:fs'
import type { Fetch } from '@sallyport/core'
import t from 'tap'
import { feedsOf, openFeedStore, openVerifier, updateFeeds } from '../src/index.ts'
import { writeMmdb } from '../src/testing/mmdb-writer.ts'
import { folder } from './fixtures.ts'

/* A city database that cannot be read, cut anywhere or corrupt inside, never replaces the one in use. */

const networks = Object.fromEntries(
  Array.from({ length: 120 }, (_, index) => [`23.${index}.0.0/16`, { country: { iso_code: 'DE' } }]),
)
const WHOLE = writeMmdb(networks, { ipVersion: 4, built: Date.UTC(2026, 10, 1) / 1000 })

async function rig(t: Parameters<typeof folder>[0], published = false) {
  const store = openFeedStore(folder(t))
  const [own] = feedsOf({ 'dbip-city-lite': { url: 'https://example.org/city.mmdb' } })
  if (own === undefined) throw new Error('no feed')
  const feed = { ...own, published }
  const verifier = openVerifier()
  t.teardown(() => verifier.close())
  let served: Uint8Array = Buffer.alloc(0)
  const outbound: Fetch = {
    fetch: async () => ({
      state: 'answered',
      status: 200,
      headers: {},
      body: (async function* () {
        yield served
      })(),
    }),
  }
  return {
    async update(bytes: Uint8Array) {
      served = bytes
      const { verify } = verifier
      const clock = { now: () => Date.UTC(2026, 10, 21) }
      return (await updateFeeds([feed], { store, outbound, clock, verify, retryMs: 1 }))[0]
    },
    file: () => store.file('dbip-city-lite', feed.url),
  }
}

t.test('a database cut short anywhere does not replace the one in use', async (t) => {
  const { update, file } = await rig(t)
  t.match(await update(WHOLE), { state: 'updated' })
  t.equal(file()?.made, Date.UTC(2026, 10, 1), 'dated as it says of itself')
  const { path = '' } = file() ?? {}
  const accepted: number[] = []
  for (let percent = 0; percent < 100; percent++) {
    const cut = WHOLE.subarray(0, Math.floor((WHOLE.length * percent) / 100))
    if ((await update(cut))?.state !== 'refused') accepted.push(percent)
  }
  t.same(accepted, [], 'percent of it that are accepted')
  t.equal(file()?.path, path)
  t.ok(readFileSync(path).equals(WHOLE))
})

t.test('a database that is corrupt inside does not replace it either, or something else', async (t) => {
  const { update, file } = await rig(t)
  await update(WHOLE)
  const path = file()?.path
  const lost = Buffer.from(WHOLE).fill(0xff, 0, 400)
  t.match(await update(lost), { state: 'refused' }, 'the tree points out of the file')
  const many = Object.fromEntries(
    Array.from({ length: 2000 }, (_, index) => [
      `23.${index >> 8}.${index & 255}.0/24`,
      { country: { iso_code: 'DE' }, city: { names: { en: `Town ${index}` } } },
    ]),
  )
  const one = writeMmdb(many, { ipVersion: 4 })
  // The length of one name among two thousand, so that what follows is read in the wrong place.
  const name = one.indexOf('Town 1500')
  one[name - 1] = 0x00
  t.match(await update(one), { state: 'refused' }, 'one record of two thousand')
  t.match(await update(Buffer.from('<html>')), { state: 'refused', reason: /not a MaxMind DB/ })
  t.match(await update(writeMmdb({}, { ipVersion: 4 })), { state: 'refused' }, 'nothing is in it')
  t.equal(file()?.path, path)
})

t.test('a sound database of a few networks does not replace the whole world', async (t) => {
  const { update, file } = await rig(t, true)
  t.match(await update(WHOLE), { state: 'refused', reason: /it has \d+ where at least 1000000 entries are plausible/ })
  t.equal(file(), undefined, 'what comes in packages stays in use')
})
