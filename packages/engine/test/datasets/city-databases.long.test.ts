import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { formatAddress, type GeoReader } from '@sallyport/core'
import { createRandom, makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { compileCity } from '../../src/datasets/compile/city.ts'
import { loadCity } from '../../src/datasets/index.ts'
import { parseMmdb } from '../../src/datasets/mmdb/file.ts'
import { readGeoRecord } from '../../src/datasets/mmdb/geo-record.ts'
import { joinCities } from '../../src/datasets/tables/cities.ts'
import { type MmdbForm, type MmdbValue, writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { citySource, compiledCity, FLAT, NESTED, openedFile, readSegments } from './city-fixtures.ts'
import { openDatabase } from './database.ts'
import { addressFrom, folder, randomBits, SHARED_DATA } from './fixtures.ts'

async function opened(
  t: Parameters<typeof folder>[0],
  networks: Readonly<Record<string, MmdbValue>>,
  form: MmdbForm = { ipVersion: 4 },
): Promise<GeoReader> {
  const path = join(folder(t), 'city.mmdb')
  writeFileSync(path, writeMmdb(networks, form))
  return openedFile(t, path)
}

t.test('the flat layout: empty texts are absent, coordinates without noise, the zone read off them', async (t) => {
  const geo = await opened(t, { '81.2.69.0/24': FLAT })
  t.same(await geo.read(makeAddress('81.2.69.142')), {
    countryCode: 'GB',
    city: 'London',
    region: 'England',
    latitude: 51.5143,
    longitude: -0.0912,
    timezone: 'Europe/London',
  })
  t.equal(await geo.read(makeAddress('81.2.70.0')), undefined)
})

t.test("MaxMind's layout: English names, postal code, zone, radius, and the country", async (t) => {
  const geo = await opened(t, {
    '89.160.20.0/24': NESTED,
    '89.160.21.0/24': { registered_country: { iso_code: 'DE' } },
  })
  t.same(await geo.read(makeAddress('89.160.20.1')), {
    countryCode: 'SE',
    city: 'Linköping',
    region: 'Östergötland County',
    postalCode: '580 00',
    latitude: 58.4167,
    longitude: 15.6167,
    timezone: 'Europe/Stockholm',
    accuracyRadius: 76,
  })
  t.same(await geo.read(makeAddress('89.160.21.1')), { countryCode: 'DE' })
})

t.test('a member that is not of the expected form is absent', async (t) => {
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
    '23.0.0.0/24': odd,
    '23.0.1.0/24': { ...odd, country_code: 'de' },
    '23.0.2.0/24': FLAT,
  })
  t.same(await geo.read(makeAddress('23.0.0.1')), {})
  t.same(await geo.read(makeAddress('23.0.1.1')), {})
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
  t.same(
    both.map((one) => countries?.find(one)?.code),
    ['GB', 'SE'],
  )
  const { geo: onlySix } = joinCities([ofSix])
  await t.rejects(async () => onlySix?.read(makeAddress('23.0.0.1')), { code: 'missing_data' }, 'its row is for IPv6')
  t.same(joinCities([{ status: ofFour.status }]), {}, 'nothing was opened')
  const joined = joinCities([await compiledCity(dir, six)])
  t.equal(joined.countries?.find(makeAddress('23.0.0.1'))?.code, 'SE')
  await t.rejects(compileCity({ dataDir: dir, source: citySource(four, 'dbip-city-v6') }), {
    code: 'corrupt_data',
    message: /four\.mmdb: no record has a country/,
  })
})

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
        const points = Array.from({ length: segments.count }, (_, index) =>
          segments.starts.subarray(index * 4, index * 4 + 4).reduce((bits, word) => (bits << 32n) | BigInt(word), 0n),
        )
          .flatMap((start) => [start, start + 1n, start - 1n])
          .concat(Array.from({ length: 300 }, () => randomBits(random, family === 4 ? 32 : 128)))
          // ::/96 is IPv4's place in the tree, and ::ffff:0:0/96 an IPv4 address to every reader.
          .filter((point) => point >= 0n && (family === 6 ? point >> 96n !== 0n : point < 2n ** 32n))
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

t.test('countries that are not known are absent, compiled or not', async (t) => {
  const path = join(folder(t), 'city.mmdb')
  const records = { '23.0.0.0/24': FLAT, '23.0.1.0/24': { ...FLAT, country_code: '' } }
  writeFileSync(path, writeMmdb(records, { ipVersion: 4 }))
  const compiled = await compiledCity(folder(t), path)
  for (const cities of [compiled.cities, openDatabase(path, [4, 6])]) {
    const { countries } = joinCities([{ status: compiled.status, cities }])
    t.same(
      ['23.0.0.255', '23.0.1.0', '23.0.2.0', '2a00::'].map((text) => countries?.find(makeAddress(text))?.code),
      ['GB', undefined, undefined, undefined],
    )
  }
})

t.test('a city file keeps the hash of the database that it was made from', async (t) => {
  const dir = folder(t)
  const path = join(dir, 'city.mmdb')
  writeFileSync(path, writeMmdb({ '23.0.0.0/24': FLAT }, { ipVersion: 4, built: 1_780_000_000 }))
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex')
  const compiled = await compileCity({ dataDir: dir, source: citySource(path) })
  t.equal(compiled.source.sha256, sha256)
  t.equal(loadCity(compiled.path).source.sha256, sha256)
})

t.test('a city file keeps its file before and removes what is older', async (t) => {
  const dir = folder(t)
  const path = join(dir, 'city.mmdb')
  const paths: string[] = []
  for (const day of [1, 2, 3]) {
    writeFileSync(path, writeMmdb({ '23.0.0.0/24': FLAT }, { ipVersion: 4, built: 1_780_000_000 + day }))
    const source = citySource(path)
    const { path: made } = await compileCity({
      dataDir: dir,
      source: { ...source, file: { ...source.file, modified: day } },
    })
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
      const segments = readSegments(file, family)
      read += segments.count
      for (let segment = 0; segment < segments.count; segment++) {
        const [a, b, c, d] = Array.from(segments.starts.subarray(segment * 4, segment * 4 + 4), (word) => word | 0) as [
          number,
          number,
          number,
          number,
        ]
        // IPv4's place in an IPv6 tree, which no client's address is in.
        if (family === 6 && a === 0 && b === 0 && (c === 0 || c === 0xffff)) continue
        await geo.read({ family, a, b, c, d })
      }
    }
  }
  t.ok(read > 1000, `${read} networks of ${names.length} databases`)
  const geo = await openedFile(t, join(TEST_DATA, 'GeoIP2-City-Test.mmdb'))
  t.match(await geo.read(makeAddress('81.2.69.142')), { countryCode: 'GB', city: 'London', accuracyRadius: 10 })
  t.match(await geo.read(makeAddress('2a02:cf40::1')), { countryCode: 'NO', timezone: 'Europe/Oslo' })
})

const GOLDEN = join(SHARED_DATA, 'geo/dbip-city-golden.jsonl.gz')
const skipGolden = existsSync(GOLDEN) ? false : 'the shared golden answers are not there'

t.test('golden answers of the reader, over a cut of the real database', { skip: skipGolden }, async (t) => {
  const dir = folder(t)
  const cities = ([4, 6] as const).map((family) =>
    compiledCity(dir, join(SHARED_DATA, `geo/dbip-city-mini-ipv${family}.mmdb`), `dbip-city-v${family}`),
  )
  const { geo } = joinCities(await Promise.all(cities))
  const lines = gunzipSync(readFileSync(GOLDEN)).toString('utf8').trim().split('\n')
  const wrong: string[] = []
  for (const line of lines) {
    const { ip, record } = JSON.parse(line) as { ip: string; record: object | null }
    const one = makeAddress(ip)
    const expected = record === null ? undefined : readGeoRecord(record)
    if (JSON.stringify(await geo?.read(one)) !== JSON.stringify(expected)) wrong.push(line)
  }
  t.same(wrong.slice(0, 5), [], `${lines.length} answers, ${wrong.length} wrong`)
})
