import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPERATORS } from '@sallyport/data/operators'
import t from 'tap'
import { findOperator, findSystemType } from '../src/asn/types.ts'
import { AS_TYPES, NETWORK_CLASSES } from '../src/vocabulary.ts'

const REPOSITORY = join(import.meta.dirname, '../../../..')
const ROUTED_RANGES = join(REPOSITORY, 'node_modules/@ip-location-db/asn/asn-ipv4-num.csv')

t.test('every operator row is complete, well formed and the only one of its number', async (t) => {
  t.ok(OPERATORS.length >= 700, `${OPERATORS.length} rows`)
  const odd = OPERATORS.filter(({ asn, name, type, networkClass }, at) => {
    const isNext = Number.isInteger(asn) && asn > (OPERATORS[at - 1]?.asn ?? 0) && asn < 4_200_000_000
    const isClass = networkClass === undefined || NETWORK_CLASSES.includes(networkClass)
    return !isNext || !isClass || !AS_TYPES.includes(type) || name === '' || name.trim() !== name
  })
  t.same(odd, [])
})

t.test('a brand needs something sold under it, and a class is not the default one', async (t) => {
  for (const { asn, type, brand, networkClass } of OPERATORS) {
    // A company's own machines have its name: visitors from there are its services.
    const isOfServices = type === 'unknown' && networkClass === 'datacenter'
    const sells = isOfServices || !['education', 'government', 'unknown'].includes(type)
    if (brand !== undefined && !sells) t.fail(`AS${asn} has a brand`)
    if (brand === undefined && ['vpn', 'tor', 'mobile'].includes(type)) t.fail(`AS${asn} has no brand`)
    const own = ['hosting datacenter', 'hosting vpn', 'isp hosting', 'unknown datacenter']
    const isOwn = networkClass === undefined || own.includes(`${type} ${networkClass}`)
    if (!isOwn) t.fail(`AS${asn}: ${type} of class ${networkClass}`)
  }
})

t.test('numbers whose registered name misleads are typed by their operator, and clouds have their brand', async (t) => {
  for (const [asn, name, type, networkClass] of [
    [6167, 'Verizon Business', 'mobile', 'mobile'],
    [701, 'Verizon Business', 'isp', 'residential_clean'],
    [9790, 'Two Degrees Mobile Limited', 'isp', 'residential_clean'],
    [13188, 'CONTENT DELIVERY NETWORK LTD', 'isp', 'residential_clean'],
    [24940, 'Hetzner Online GmbH', 'hosting', 'hosting'],
    [212238, 'Datacamp Limited', 'hosting', 'vpn'],
    [174, 'Cogent Communications', 'isp', 'hosting'],
    [136787, 'PacketHub S.A.', 'vpn', 'vpn'],
    [60729, 'Stiftung Erneuerbare Freiheit', 'tor', 'tor'],
    [1766, 'Exxon Mobil Corporation', 'unknown', 'unknown'],
    [8501, 'Institute of Bioorganic Chemistry Polish Academy of Science', 'education', 'unknown'],
  ] as const) {
    const found = findSystemType(asn, name)
    t.same([found.type, found.networkClass, found.basis], [type, networkClass, 'operator'], `AS${asn} ${name}`)
  }
  const comcast = { type: 'isp', networkClass: 'residential_clean', brand: 'Xfinity', basis: 'operator' } as const
  t.same(findSystemType(7922, 'University of Nowhere'), comcast)
  t.equal(findOperator(4_199_999_999), undefined)
  const clouds = { 'Amazon Web Services': 16509, 'Microsoft Azure': 8075, 'Google Cloud': 396982, Cloudflare: 13335 }
  for (const [brand, asn] of Object.entries(clouds))
    t.same([findSystemType(asn, '').networkClass, findSystemType(asn, '').brand], ['datacenter', brand])
})

const skip = existsSync(ROUTED_RANGES) ? false : '@ip-location-db/asn is not installed'

t.test('the 300 largest networks of IPv4 have a row', { skip }, async (t) => {
  const addresses = new Map<number, number>()
  for (const line of readFileSync(ROUTED_RANGES, 'utf8').trim().split('\n')) {
    const [first, last, asn] = line.split(',', 3).map(Number) as [number, number, number]
    addresses.set(asn, (addresses.get(asn) ?? 0) + last - first + 1)
  }
  const largest = [...addresses].sort((x, y) => y[1] - x[1]).slice(0, 300)
  const wrong = largest.filter(([asn]) => findOperator(asn) === undefined)
  t.same(wrong, [])
})
