import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { openVerifier } from '../../src/datasets/feeds/verify.ts'
import { writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { openFeedRig } from './feed-rig.ts'

/* A city database that cannot be read, cut anywhere or corrupt inside, never replaces the one in use. */

const networks = Object.fromEntries(
  Array.from({ length: 120 }, (_, index) => [`23.${index}.0.0/16`, { country: { iso_code: 'DE' } }]),
)
const WHOLE = writeMmdb(networks, { ipVersion: 4, built: Date.UTC(2026, 10, 1) / 1000 })

const CITY = 'dbip-city-lite'

async function rig(t: Test, published = false) {
  const { server, store, feed, updateFeed } = await openFeedRig(t, [CITY])
  const { verify, close } = openVerifier()
  t.teardown(close)
  return {
    update(bytes: Buffer) {
      server.serve(`/${CITY}`, bytes)
      return updateFeed({ ...feed(CITY), published }, { verify })
    },
    file: () => store.file(CITY, feed(CITY).url),
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
    if ((await update(cut)).state !== 'refused') accepted.push(percent)
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
