import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPERATORS } from '@sallyport/data/operators'
import t from 'tap'
import { findOperator, typeOfSystem } from '../src/asn/types.ts'
import { AS_TYPES, NETWORK_CLASSES } from '../src/vocabulary.ts'

const REPOSITORY = join(import.meta.dirname, '../../../..')
const ROUTED_RANGES = join(REPOSITORY, 'node_modules/@ip-location-db/asn/asn-ipv4-num.csv')

t.test('every operator row is complete, well formed and the only one of its number', async (t) => {
  t.ok(OPERATORS.length >= 700, `${OPERATORS.length} rows`)
  t.equal(new Set(OPERATORS.map(({ asn }) => asn)).size, OPERATORS.length)
  for (const [index, row] of OPERATORS.entries()) {
    const wrong = [
      Number.isInteger(row.asn) && row.asn > 0 && row.asn < 4_200_000_000 ? '' : 'asn',
      index === 0 || row.asn > (OPERATORS[index - 1]?.asn ?? 0) ? '' : 'order',
      row.name.trim() === row.name && row.name !== '' ? '' : 'name',
      AS_TYPES.includes(row.type) ? '' : 'type',
      row.networkClass === undefined || NETWORK_CLASSES.includes(row.networkClass) ? '' : 'networkClass',
      row.source.trim() !== '' ? '' : 'source',
      /^20\d\d-(0[1-9]|1[0-2])$/.test(row.date) ? '' : 'date',
    ].filter((field) => field !== '')
    if (wrong.length > 0) t.fail(`AS${row.asn}: ${wrong.join(', ')}`)
  }
})

t.test('a brand needs something sold under it, and a class is not the default one', async (t) => {
  for (const { asn, type, brand, networkClass } of OPERATORS) {
    // A company's own machines have its name: visitors from there are its services.
    const isOfServices = type === 'unknown' && networkClass === 'datacenter'
    const sells = isOfServices || !['education', 'government', 'unknown'].includes(type)
    if (brand !== undefined && !sells) t.fail(`AS${asn} has a brand`)
    if (brand === undefined && ['vpn', 'tor', 'mobile'].includes(type)) t.fail(`AS${asn} has no brand`)
    const own: readonly (string | undefined)[] =
      type === 'hosting'
        ? ['datacenter', 'vpn']
        : type === 'isp'
          ? ['hosting']
          : type === 'unknown'
            ? ['datacenter']
            : []
    if (networkClass !== undefined && !own.includes(networkClass)) t.fail(`AS${asn}: ${type} of class ${networkClass}`)
  }
})

t.test('the operator row wins over any name', async (t) => {
  t.same(typeOfSystem(7922, 'University of Nowhere'), {
    type: 'isp',
    networkClass: 'residential_clean',
    brand: 'Xfinity',
    basis: 'operator',
  })
  t.equal(findOperator(4_199_999_999), undefined)
})

t.test('numbers whose registered name misleads are typed by their operator', async (t) => {
  const cases = [
    [6167, 'Verizon Business', 'mobile', 'mobile'],
    [22394, 'Verizon Business', 'mobile', 'mobile'],
    [701, 'Verizon Business', 'isp', 'residential_clean'],
    [20057, 'AT&T Enterprises, LLC', 'mobile', 'mobile'],
    [7018, 'AT&T Enterprises, LLC', 'isp', 'residential_clean'],
    [16232, 'Telecom Italia S.p.A.', 'mobile', 'mobile'],
    [3269, 'Telecom Italia S.p.A.', 'isp', 'residential_clean'],
    [26599, 'TELEFONICA BRASIL S.A', 'mobile', 'mobile'],
    [18881, 'TELEFONICA BRASIL S.A', 'isp', 'residential_clean'],
    [45609, 'Bharti Airtel Limited', 'mobile', 'mobile'],
    [24560, 'Bharti Airtel Limited', 'isp', 'residential_clean'],
    [9790, 'Two Degrees Mobile Limited', 'isp', 'residential_clean'],
    [719, 'RIPE Network Coordination Centre', 'isp', 'residential_clean'],
    [29447, 'SCALEWAY S.A.S.', 'isp', 'residential_clean'],
    [13188, 'CONTENT DELIVERY NETWORK LTD', 'isp', 'residential_clean'],
    [16591, 'Google Fiber Inc.', 'isp', 'residential_clean'],
    [396982, 'Google LLC', 'hosting', 'datacenter'],
    [63949, 'Akamai Technologies, Inc.', 'hosting', 'datacenter'],
    [37963, 'Hangzhou Alibaba Advertising Co.,Ltd.', 'hosting', 'datacenter'],
    [24940, 'Hetzner Online GmbH', 'hosting', 'hosting'],
    [212238, 'Datacamp Limited', 'hosting', 'vpn'],
    [174, 'Cogent Communications', 'isp', 'hosting'],
    [136787, 'PacketHub S.A.', 'vpn', 'vpn'],
    [209103, 'Proton AG', 'vpn', 'vpn'],
    [216025, 'Mullvad VPN AB', 'vpn', 'vpn'],
    [60729, 'Stiftung Erneuerbare Freiheit', 'tor', 'tor'],
    [53667, 'FranTech Solutions', 'hosting', 'hosting'],
    [1766, 'Exxon Mobil Corporation', 'unknown', 'unknown'],
    [8501, 'Institute of Bioorganic Chemistry Polish Academy of Science', 'education', 'unknown'],
    [27064, 'DoD Network Information Center', 'government', 'unknown'],
  ] as const
  for (const [asn, name, type, networkClass] of cases) {
    const found = typeOfSystem(asn, name)
    t.same([found.type, found.networkClass, found.basis], [type, networkClass, 'operator'], `AS${asn} ${name}`)
  }
})

t.test('public clouds are datacenter under their brand', async (t) => {
  const clouds = new Map([
    ['Amazon Web Services', 16509],
    ['Microsoft Azure', 8075],
    ['Google Cloud', 396982],
    ['Oracle Cloud', 31898],
    ['DigitalOcean', 14061],
    ['Linode', 63949],
    ['Vultr', 20473],
    ['Alibaba Cloud', 45102],
    ['Tencent Cloud', 132203],
    ['IBM Cloud', 36351],
    ['Cloudflare', 13335],
    ['Fastly', 54113],
    ['Akamai', 20940],
  ])
  for (const [brand, asn] of clouds) {
    t.same([typeOfSystem(asn, '').networkClass, typeOfSystem(asn, '').brand], ['datacenter', brand])
  }
})

t.test(
  'the 300 largest networks of IPv4 have a row',
  { skip: existsSync(ROUTED_RANGES) ? false : '@ip-location-db/asn is not installed' },
  async (t) => {
    const addresses = new Map<number, number>()
    for (const line of readFileSync(ROUTED_RANGES, 'utf8').split('\n')) {
      if (line === '') continue
      const [first, last, asn] = line.split(',', 3).map(Number) as [number, number, number]
      addresses.set(asn, (addresses.get(asn) ?? 0) + last - first + 1)
    }
    const largest = [...addresses].sort((x, y) => y[1] - x[1]).slice(0, 300)
    t.same(
      largest.filter(([asn]) => findOperator(asn) === undefined),
      [],
    )
  },
)
