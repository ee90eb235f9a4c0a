import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatAddress, type GeoReader, SallyportError } from '@sallyport/core'
import t from 'tap'
import { openCities, openGeo } from '../src/index.ts'
import { walkCountries } from '../src/mmdb/countries.ts'
import { parseMmdb } from '../src/mmdb/file.ts'
import { address, addressFrom, createRandom, folder, randomBits, SHARED_DATA, sourcesOf } from './fixtures.ts'
import { type MmdbForm, type MmdbValue, writeMmdb } from './mmdb-writer.ts'

const FLAT = {
  city: 'London',
  country_code: 'GB',
  latitude: 51.51430130004883,
  longitude: -0.09122440218925476,
  postcode: '',
  state1: 'England',
  state2: '',
  timezone: '',
}
const NESTED = {
  city: { geoname_id: 1, names: { de: 'Linköping', en: 'Linköping' } },
  continent: { code: 'EU' },
  country: { iso_code: 'SE', names: { en: 'Sweden' } },
  location: { accuracy_radius: 76, latitude: 58.4167, longitude: 15.6167, time_zone: 'Europe/Stockholm' },
  postal: { code: '580 00' },
  registered_country: { iso_code: 'DE' },
  subdivisions: [{ iso_code: 'E', names: { en: 'Östergötland County' } }, { names: { en: 'Second' } }],
}

async function opened(
  t: Parameters<typeof folder>[0],
  networks: Readonly<Record<string, MmdbValue>>,
  form: MmdbForm = { ipVersion: 4 },
): Promise<GeoReader> {
  const path = join(folder(t), 'city.mmdb')
  writeFileSync(path, writeMmdb(networks, form))
  return openGeo(form.ipVersion === 4 ? { ipv4: path } : { ipv6: path })
}

t.test('the flat layout: empty texts are absent, coordinates without noise, the zone read off them', async (t) => {
  const geo = await opened(t, { '81.2.69.0/24': FLAT })
  t.same(geo.read(address('81.2.69.142')), {
    countryCode: 'GB',
    city: 'London',
    region: 'England',
    latitude: 51.5143,
    longitude: -0.0912,
    timezone: 'Europe/London',
  })
  t.equal(geo.read(address('81.2.70.0')), undefined)
})

t.test(
  "MaxMind's layout: English names, postal code, zone and radius; the country before the registered one",
  async (t) => {
    const geo = await opened(t, {
      '89.160.20.0/24': NESTED,
      '89.160.21.0/24': { registered_country: { iso_code: 'DE' } },
    })
    t.same(geo.read(address('89.160.20.1')), {
      countryCode: 'SE',
      city: 'Linköping',
      region: 'Östergötland County',
      postalCode: '580 00',
      latitude: 58.4167,
      longitude: 15.6167,
      timezone: 'Europe/Stockholm',
      accuracyRadius: 76,
    })
    t.same(geo.read(address('89.160.21.1')), { countryCode: 'DE' })
  },
)

t.test('what is not of the expected form is absent', async (t) => {
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
  t.same(geo.read(address('23.0.0.1')), {})
  t.same(geo.read(address('23.0.1.1')), {})
})

t.test('an IPv6 file answers for both families, an IPv4 file for its own only', async (t) => {
  const six = await opened(t, { '2a00:1::/32': FLAT, '23.0.0.0/24': NESTED }, { ipVersion: 6 })
  t.match(six.read(address('2a00:1::7')), { countryCode: 'GB' })
  t.match(six.read(address('23.0.0.7')), { countryCode: 'SE' })
  t.match(six.read(address('::ffff:23.0.0.7')), { countryCode: 'SE' }, 'a mapped address is IPv4')
  const four = await opened(t, { '23.0.0.0/24': NESTED })
  t.throws(() => four.read(address('2a00:1::7')), { code: 'missing_data' }, 'nothing was looked up')
  const onlySix = await opened(t, { '2a00:1::/32': FLAT }, { ipVersion: 6 })
  t.throws(() => onlySix.read(address('23.0.0.7')), { code: 'missing_data' })
})

t.test('each family is read from its own file, and an IPv4 file named for IPv6 is refused', async (t) => {
  const dir = folder(t)
  const [four, six] = [join(dir, 'four.mmdb'), join(dir, 'six.mmdb')]
  writeFileSync(four, writeMmdb({ '23.0.0.0/24': FLAT }, { ipVersion: 4 }))
  writeFileSync(six, writeMmdb({ '2a00:1::/32': NESTED, '23.0.0.0/24': NESTED }, { ipVersion: 6 }))
  const geo = await openGeo({ ipv4: four, ipv6: six })
  t.match(
    [geo.read(address('23.0.0.1')), geo.read(address('2a00:1::1'))],
    [{ countryCode: 'GB' }, { countryCode: 'SE' }],
  )
  const both = await openGeo({ ipv4: six, ipv6: six })
  t.match(
    [both.read(address('23.0.0.1')), both.read(address('2a00:1::1'))],
    [{ countryCode: 'SE' }, { countryCode: 'SE' }],
  )
  await t.rejects(openGeo({ ipv6: four }), { code: 'corrupt_data', message: /four\.mmdb: an IPv4 database/ })
  await t.rejects(openGeo({ ipv4: join(dir, 'no.mmdb') }), { code: 'missing_data', message: /no\.mmdb/ })
})

t.test('walking the tree finds for every address the country that a lookup finds', async (t) => {
  const codes = ['ZZ', 'DE', 'FR', 'US', 'SE']
  const numberOf = (code: string) => codes.indexOf(code)
  for (const recordSize of [24, 28, 32] as const) {
    for (const ipVersion of [4, 6] as const) {
      const random = createRandom(recordSize + ipVersion)
      const networks = Object.fromEntries(
        Array.from({ length: 150 }, (_, index) => {
          const family = ipVersion === 6 && index % 3 !== 0 ? 6 : 4
          const prefix = family === 4 ? 9 + random(24) : 12 + random(110)
          const bits = family === 4 ? randomBits(random, 32) : (1n << 125n) | (randomBits(random, 128) >> 3n)
          const code = codes[random(codes.length)] as string
          const record =
            index % 2 === 0
              ? { city: `Town ${index}`, country_code: code }
              : { names: ['x', true], country: { iso_code: code } }
          return [`${formatAddress(addressFrom(family, bits))}/${prefix}`, record]
        }),
      )
      const file = parseMmdb(writeMmdb(networks, { ipVersion, recordSize }), 'made.mmdb')
      for (const family of ipVersion === 4 ? ([4] as const) : ([4, 6] as const)) {
        const { segments } = walkCountries(file, family, (letters) =>
          numberOf(letters < 0 ? 'ZZ' : String.fromCharCode(letters >> 8, letters & 255)),
        )
        let wrong = 0
        for (let index = 0; index < segments.count; index++) {
          const words = segments.starts.subarray(index * 4, index * 4 + 4)
          const start = words.reduce((bits, word) => (bits << 32n) | BigInt(word), 0n)
          // ::/96 is IPv4's place in the tree, and ::ffff:0:0/96 an IPv4 address to every reader.
          if (family === 6 && start >> 96n === 0n) continue
          const record = file.reader.get(formatAddress(addressFrom(family, start))) as {
            country_code?: string
            country?: { iso_code: string }
          } | null
          if (segments.values[index] !== numberOf(record?.country_code ?? record?.country?.iso_code ?? 'ZZ')) wrong++
        }
        t.equal(wrong, 0, `${recordSize} bits, IPv${ipVersion} tree, IPv${family}: ${segments.count} segments`)
        t.ok(segments.count > 50)
      }
    }
  }
})

/** 'refused' for an error of ours that names the file, 'opened', or what was thrown. */
async function outcome(path: string): Promise<string> {
  try {
    const geo = await openGeo({ ipv4: path })
    geo.read(address('23.0.0.1'))
    return 'opened'
  } catch (error) {
    return error instanceof SallyportError && error.message.startsWith(path) ? 'refused' : String(error)
  }
}

t.test('a truncated database is refused by name, wherever it ends', async (t) => {
  const path = join(folder(t), 'city.mmdb')
  const whole = writeMmdb({ '23.0.0.0/24': FLAT, '24.0.0.0/8': NESTED }, { ipVersion: 4 })
  for (let percent = 0; percent < 100; percent++) {
    writeFileSync(path, whole.subarray(0, Math.floor((whole.length * percent) / 100)))
    t.equal(await outcome(path), 'refused', `${percent} %`)
  }
})

t.test('a corrupt database is refused by name', async (t) => {
  const path = join(folder(t), 'city.mmdb')
  const good = writeMmdb({ '23.0.0.0/24': FLAT, '24.0.0.0/8': NESTED }, { ipVersion: 4 })
  const nodes = parseMmdb(good, path).nodeCount
  const cases: Readonly<Record<string, (bytes: Buffer) => void>> = {
    'a tree that runs in a circle': (bytes) => bytes.fill(0, 0, nodes * 6),
    'a record far outside': (bytes) => bytes.fill(0xff, 0, nodes * 6),
    'a separator that is not there': (bytes) => bytes.fill(1, nodes * 6, nodes * 6 + 16),
    'data of nonsense': (bytes) => bytes.fill(0xff, nodes * 6 + 16, nodes * 6 + 60),
    'an empty tree': (bytes) => {
      for (let record = 0; record < nodes * 2; record++) bytes.writeUIntBE(nodes, record * 3, 3)
    },
  }
  for (const [what, harm] of Object.entries(cases)) {
    const bytes = Buffer.from(good)
    harm(bytes)
    writeFileSync(path, bytes)
    t.equal(await outcome(path), 'refused', what)
  }
  for (const [what, text] of Object.entries({ nothing: '', 'a web page': '<html>', gzip: '\x1f\x8b\x08' })) {
    writeFileSync(path, text)
    t.equal(await outcome(path), 'refused', what)
  }
  writeFileSync(path, writeMmdb({ '23.0.0.0/24': { isp: 'Access' } }, { ipVersion: 4 }))
  t.equal(await outcome(path), 'refused', 'a database of something else')
})

t.test('a walk through a tree that runs in a circle ends', async (t) => {
  const bytes = writeMmdb({ '23.0.0.0/16': FLAT }, { ipVersion: 4 })
  const { nodeCount } = parseMmdb(bytes, 'made.mmdb')
  bytes.fill(0, 0, nodeCount * 6)
  t.throws(() => walkCountries(parseMmdb(bytes, 'made.mmdb'), 4, () => 0), {
    code: 'corrupt_data',
    message: /made\.mmdb/,
  })
})

t.test('of the city sources each is opened on its own', async (t) => {
  const dir = folder(t)
  const four = writeMmdb({ '23.0.0.0/24': FLAT }, { ipVersion: 4 })
  const six = writeMmdb({ '2a00:1::/32': NESTED }, { ipVersion: 6 })
  const good = await openCities(sourcesOf(dir, { 'dbip-city-v4': four, 'dbip-city-v6': six }))
  t.match(
    [good.geo?.read(address('23.0.0.1')), good.geo?.read(address('2a00:1::1'))],
    [{ countryCode: 'GB' }, { countryCode: 'SE' }],
  )
  t.equal(good.refused.size, 0)
  const half = await openCities(sourcesOf(dir, { 'dbip-city-v4': four.subarray(0, 100), 'dbip-city-v6': six }))
  t.match(half.refused.get('dbip-city-v4'), /dbip-city-v4: no metadata/)
  t.match(half.geo?.read(address('2a00:1::1')), { countryCode: 'SE' })
  t.throws(() => half.geo?.read(address('23.0.0.1')), { code: 'missing_data' })
  const none = await openCities(sourcesOf(dir, {}))
  t.same([none.geo, none.refused.size], [undefined, 0])
  const both = writeMmdb({ '2a00:1::/32': NESTED, '23.0.0.0/24': FLAT }, { ipVersion: 6 })
  const own = await openCities(sourcesOf(dir, { city: both, 'dbip-city-v4': four }))
  t.match(
    [own.geo?.read(address('23.0.0.1')), own.geo?.read(address('2a00:1::1'))],
    [{ countryCode: 'GB' }, { countryCode: 'SE' }],
  )
})

const TEST_DATA = join(SHARED_DATA, 'mmdb/test-data')
const BAD_DATA = join(SHARED_DATA, 'mmdb/bad-data')
const skip = existsSync(BAD_DATA) ? false : 'the shared test databases are not there'

t.test("MaxMind's bad databases are refused by name", { skip }, async (t) => {
  const broken = readdirSync(TEST_DATA).filter((name) => /[Bb]roken|Invalid/.test(name))
  const bad = [
    ...readdirSync(BAD_DATA).map((name) => join(BAD_DATA, name)),
    ...broken.map((name) => join(TEST_DATA, name)),
  ]
  for (const path of bad) t.equal(await outcome(path), 'refused', path)
})

t.test("MaxMind's test city database is read", { skip }, async (t) => {
  const path = join(TEST_DATA, 'GeoIP2-City-Test.mmdb')
  const geo = await openGeo({ ipv6: path })
  t.match(geo.read(address('81.2.69.142')), { countryCode: 'GB', city: 'London', accuracyRadius: 10 })
  t.match(geo.read(address('2a02:cf40::1')), { countryCode: 'NO', timezone: 'Europe/Oslo' })
  const { networks } = walkCountries(parseMmdb(readFileSync(path), path), 4, () => 1)
  t.ok(networks > 10)
})
