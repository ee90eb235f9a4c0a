import t from 'tap'
import { ALLOWANCES, CLIENT_LIMITS, clientBuckets, isPlanName, PLAN_NAMES } from '../src/index.ts'
import { NO_ADDRESS_KEY } from '../src/limits.ts'

const ipv4 = (d: number) => ({ family: 4, a: 0, b: 0, c: 0, d: d | 0 }) as const
const ipv6 = (a: number, b: number, c: number, d: number) =>
  ({ family: 6, a: a | 0, b: b | 0, c: c | 0, d: d | 0 }) as const

const keysOf = (...given: Parameters<typeof clientBuckets>) => clientBuckets(...given).map(({ key }) => key)

t.test('the allowance of each plan', async (t) => {
  t.same(ALLOWANCES, { free: 30000, starter: 150000, pro: 500000, business: 2000000, enterprise: 9007199254740991 })
  t.same(Object.keys(ALLOWANCES), PLAN_NAMES)
  t.equal(Number.isSafeInteger(ALLOWANCES.enterprise), true)
  for (const name of PLAN_NAMES) t.equal(isPlanName(name), true)
  for (const name of ['', 'Free', 'gold', 'toString', '__proto__']) t.equal(isPlanName(name), false, name)
})

t.test('the limits by client', async (t) => {
  const rows = Object.values(CLIENT_LIMITS).map(({ name, max, windowSeconds }) => [name, max, windowSeconds])
  t.same(rows, [
    ['DEMO_LIMIT', 100, 86400],
    ['MYIP_LIMIT', 60, 3600],
    ['CRAWLER_VERIFY_LIMIT', 5, 3600],
    ['CRAWLER_VERIFY_BAD_LIMIT', 60, 3600],
    ['ASN_DIR_LIMIT', 600, 3600],
    ['LEDGER_KEYS_LIMIT', 600, 3600],
    ['UNAUTHORIZED_LIMIT', 60, 60],
  ])
})

t.test('an IPv4 client is one address', async (t) => {
  t.same(clientBuckets(ipv4(0xc0000201)), [{ key: '4:c0000201', factor: 1 }])
  t.notSame(keysOf(ipv4(0xc0000201)), keysOf(ipv4(0xc0000202)))
})

t.test('an IPv6 client is a /64, and one of many in a /48', async (t) => {
  const buckets = clientBuckets(ipv6(0x20010db8, 0xffffffff, 1, 2))
  t.same(buckets, [
    { key: '6:20010db8ffffffff0000000000000000/64', factor: 1 },
    { key: '6:20010db8ffff00000000000000000000/48', factor: 16 },
  ])
  t.same(clientBuckets(ipv6(0x20010db8, 0xffffffff, 0xffffffff, 0)), buckets)
  const [beside, around] = clientBuckets(ipv6(0x20010db8, 0xfffffffe, 1, 2))
  t.not(beside?.key, buckets[0]?.key)
  t.same(around, buckets[1])
  t.notSame(keysOf(ipv6(0x20010db8, 0xfffeffff, 1, 2))[1], buckets[1]?.key)
  t.notSame(keysOf(ipv6(0, 0, 0, 1))[0], keysOf(ipv4(1))[0], 'families never meet')
})

t.test('the bits of an IPv6 client can be chosen', async (t) => {
  const full = ipv6(-1, -1, -1, -1)
  const wide = '6:ffffffffffff00000000000000000000/48'
  t.same(keysOf(full, 128), ['6:ffffffffffffffffffffffffffffffff/128', wide])
  t.same(keysOf(full, 96), ['6:ffffffffffffffffffffffff00000000/96', wide])
  t.same(keysOf(full, 56), ['6:ffffffffffffff000000000000000000/56', wide])
  t.same(keysOf(full, 48), [wide], 'nothing is counted twice')
  t.same(keysOf(full, 1), ['6:80000000000000000000000000000000/1'])
})

t.test('without an address there is one bucket with a name', async (t) => {
  t.same(clientBuckets(undefined), [{ key: NO_ADDRESS_KEY, factor: 1 }])
  t.ok(NO_ADDRESS_KEY.length > 0)
})
