import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatAddress } from '@sallyport/core'
import { createRandom, makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { compileCity } from '../../src/datasets/compile/city.ts'
import { loadCity } from '../../src/datasets/index.ts'
import { parseMmdb } from '../../src/datasets/mmdb/file.ts'
import { readGeoRecord } from '../../src/datasets/mmdb/geo-record.ts'
import type { Segments } from '../../src/datasets/ranges/segments.ts'
import { joinCities } from '../../src/datasets/tables/cities.ts'
import { type MmdbForm, type MmdbValue, writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { citySource, compiledCity, FLAT, NESTED, openedFile, readSegments } from './city-fixtures.ts'
import { addressFrom, folder, randomBits, SHARED_DATA } from './fixtures.ts'

async function opened(t: Test, networks: Readonly<Record<string, MmdbValue>>, form: MmdbForm = { ipVersion: 4 }) {
  const path = join(folder(t), 'city.mmdb')
  writeFileSync(path, writeMmdb(networks, form))
  return openedFile(t, path)
}

t.test("DB-IP's flat layout and MaxMind's are read in English, without what is not of the expected form", async (t) => {
  const odd = {
    country_code: 'ZZ',
    city: 7,
    latitude: 91.5,
    longitude: 10.5,
    state1: ['x'],
    postal: 'text',
    location: { accuracy_radius: 0, time_zone: '' },
    subdivisions: [],
  }
  const geo = await opened(t, {
    '81.2.69.0/24': FLAT,
    '89.160.20.0/24': NESTED,
    '89.160.21.0/24': { registered_country: { iso_code: 'DE' } },
    '23.0.0.0/24': odd,
    '23.0.1.0/24': { ...odd, country_code: 'de' },
  })
  const london = { latitude: 51.5143, longitude: -0.0912, timezone: 'Europe/London' }
  const linkoping = { latitude: 58.4167, longitude: 15.6167, timezone: 'Europe/Stockholm', accuracyRadius: 76 }
  const expected = {
    '81.2.69.142': { countryCode: 'GB', city: 'London', region: 'England', ...london },
    '81.2.70.0': undefined,
    '89.160.20.1': {
      countryCode: 'SE',
      city: 'Linköping',
      region: 'Östergötland County',
      postalCode: '580 00',
      ...linkoping,
    },
    '89.160.21.1': { countryCode: 'DE' },
    '23.0.0.1': {},
    '23.0.1.1': {},
  }
  for (const [text, record] of Object.entries(expected)) t.same(await geo.read(makeAddress(text)), record, text)
})

t.test('an IPv6 file answers for both families, an IPv4 file for its own only', async (t) => {
  const six = await opened(t, { '2a00:1::/32': FLAT, '23.0.0.0/24': NESTED }, { ipVersion: 6 })
  t.match(await six.read(makeAddress('2a00:1::7')), { countryCode: 'GB' })
  t.match(await six.read(makeAddress('23.0.0.7')), { countryCode: 'SE' })
  t.match(await six.read(makeAddress('::ffff:23.0.0.7')), { countryCode: 'SE' }, 'a mapped address is IPv4')
  const four = await opened(t, { '23.0.0.0/24': NESTED })
  await t.rejects(four.read(makeAddress('2a00:1::7')), { code: 'missing_data' }, 'nothing was looked up')
  const onlySix = await opened(t, { '2a00:1::/32': FLAT }, { ipVersion: 6 })
  await t.rejects(onlySix.read(makeAddress('23.0.0.7')), { code: 'missing_data' })
})

t.test('each family is read from the first source that has it', async (t) => {
  const dir = folder(t)
  const [four, six] = [join(dir, 'four.mmdb'), join(dir, 'six.mmdb')]
  writeFileSync(four, writeMmdb({ '23.0.0.0/24': FLAT }, { ipVersion: 4 }))
  writeFileSync(six, writeMmdb({ '2a00:1::/32': NESTED, '23.0.0.0/24': NESTED }, { ipVersion: 6 }))
  const ofFour = await compiledCity(dir, four, 'dbip-city-v4')
  const ofSix = await compiledCity(dir, six, 'dbip-city-v6')
  const { geo, countries } = joinCities([ofFour, ofSix])
  const both = [makeAddress('23.0.0.1'), makeAddress('2a00:1::1')]
  t.match(await Promise.all(both.map((one) => geo?.read(one))), [{ countryCode: 'GB' }, { countryCode: 'SE' }])
  t.equal(both.map((one) => countries?.find(one)?.code).join(), 'GB,SE')
  const { geo: onlySix } = joinCities([ofSix])
  await t.rejects(async () => onlySix?.read(makeAddress('23.0.0.1')), { code: 'missing_data' }, 'its row is for IPv6')
  t.same(joinCities([{ status: ofFour.status }]), {}, 'nothing was opened')
  const ofOther = compileCity({ dataDir: dir, source: citySource(four, 'dbip-city-v6') })
  await t.rejects(ofOther, { code: 'corrupt_data', message: /four\.mmdb: no record has a country/ })
})

function listStarts({ starts, count }: Segments): readonly bigint[] {
  return Array.from({ length: count }, (_, index) =>
    starts.subarray(index * 4, index * 4 + 4).reduce((bits, word) => (bits << 32n) | BigInt(word), 0n),
  )
}

/** ::/96 is IPv4's place in the tree, and ::ffff:0:0/96 an IPv4 address to every reader. */
const isClient = (family: 4 | 6, bits: bigint) => bits >= 0n && (family === 6 ? bits >> 96n !== 0n : bits < 2n ** 32n)

t.test('compiled it answers as the reader does, in every form of tree', async (t) => {
  for (const recordSize of [24, 28, 32] as const) {
    for (const ipVersion of [4, 6] as const) {
      const random = createRandom(recordSize + ipVersion)
      const networks = Object.fromEntries(
        Array.from({ length: 150 }, (_, index) => {
          const family = ipVersion === 6 && index % 3 !== 0 ? 6 : 4
          const prefix = family === 4 ? 9 + random(24) : 12 + random(110)
          const bits = family === 4 ? randomBits(random, 32) : (1n << 125n) | (randomBits(random, 128) >> 3n)
          const code = ['ZZ', 'DE', 'FR', 'US', 'SE'][random(5)] as string
          const record =
            index % 2 === 0
              ? { city: `Town ${index}`, country_code: code, latitude: random(180) - 90, longitude: random(360) - 180 }
              : { names: ['x', true], country: { iso_code: code }, postal: { code: `${random(99)}` } }
          return [`${formatAddress(addressFrom(family, bits))}/${prefix}`, record]
        }),
      )
      const path = join(folder(t), 'made.mmdb')
      writeFileSync(path, writeMmdb(networks, { ipVersion, recordSize }))
      const { cities } = await compiledCity(folder(t), path)
      const places = await cities?.places()
      const file = parseMmdb(readFileSync(path), path)
      for (const family of ipVersion === 4 ? ([4] as const) : ([4, 6] as const)) {
        const segments = readSegments(file, family)
        const points = listStarts(segments)
          .flatMap((start) => [start, start + 1n, start - 1n])
          .concat(Array.from({ length: 300 }, () => randomBits(random, family === 4 ? 32 : 128)))
          .filter((point) => isClient(family, point))
        const wrong = points.filter((point) => {
          const one = addressFrom(family, point)
          const record = file.reader.get(formatAddress(one))
          const expected = record === null ? undefined : readGeoRecord(record)
          return (
            JSON.stringify(places?.read(one)) !== JSON.stringify(expected) ||
            cities?.country(one) !== expected?.countryCode
          )
        })
        t.same(wrong, [], `${recordSize} bits, IPv${ipVersion} tree, IPv${family}: ${points.length} addresses`)
        t.ok(segments.count > 50)
      }
    }
  }
})

t.test('a city file has the hash of its database, keeps its file before and removes what is older', async (t) => {
  const [dataDir, path] = [folder(t), join(folder(t), 'city.mmdb')]
  const paths: string[] = []
  for (const day of [1, 2, 3]) {
    writeFileSync(path, writeMmdb({ '23.0.0.0/24': FLAT }, { ipVersion: 4, built: 1_780_000_000 + day }))
    const { row, file } = citySource(path)
    const { path: made } = await compileCity({ dataDir, source: { row, file: { ...file, modified: day } } })
    t.equal(loadCity(made).source.sha256, createHash('sha256').update(readFileSync(path)).digest('hex'))
    utimesSync(made, day, day)
    paths.push(made)
  }
  t.same(paths.map(existsSync), [false, true, true])
})

const TEST_DATA = join(SHARED_DATA, 'mmdb/test-data')
const skip = existsSync(TEST_DATA) ? false : 'the shared test databases are not there'

t.test("MaxMind's test databases of places answer as their reader does", { skip }, async (t) => {
  const names = readdirSync(TEST_DATA).filter((name) =>
    /^(GeoIP2|GeoLite2)-(City|Enterprise|Country).*Test\.mmdb$/.test(name),
  )
  let read = 0
  for (const name of names) {
    const path = join(TEST_DATA, name)
    const geo = await openedFile(t, path)
    const file = parseMmdb(readFileSync(path), path)
    for (const family of [4, 6] as const) {
      const starts = listStarts(readSegments(file, family)).filter((start) => isClient(family, start))
      for (const start of starts) await geo.read(addressFrom(family, start))
      read += starts.length
    }
  }
  t.ok(read > 1000, `${read} networks of ${names.length} databases`)
  const geo = await openedFile(t, join(TEST_DATA, 'GeoIP2-City-Test.mmdb'))
  t.match(await geo.read(makeAddress('81.2.69.142')), { countryCode: 'GB', city: 'London', accuracyRadius: 10 })
  t.match(await geo.read(makeAddress('2a02:cf40::1')), { countryCode: 'NO', timezone: 'Europe/Oslo' })
})
