import t from 'tap'
import { judgeSystem, type SystemEvidence } from '../src/asn/evidence.ts'
import { hostPoints, looksLikeHosting, type NamedType, type SystemShape } from '../src/asn/host-likeness.ts'
import { type AsType, asRented, findSystemType } from '../src/index.ts'

const makeShape = (ipv4Addresses: number, ipv4Prefixes: number, more: Partial<SystemShape>): SystemShape => ({
  ...{ ipv6Prefixes: 0, ipv4Blocks: 1, countries: 1, neighbours: 20 },
  ...{ ipv4Addresses, ipv4Prefixes, ...more },
})
const OFFICE = makeShape(256, 1, {})
/** A host has small prefixes from many places, among prefixes of other hosts. */
const HOST = makeShape(5_120, 20, { ipv6Prefixes: 4, ipv4Blocks: 12, countries: 5, neighbours: 60 })
const CARRIER = makeShape(2_097_152, 40, { ipv6Prefixes: 6, ipv4Blocks: 9, neighbours: 5 })
/** Registries gave such numbers in the last years. */
const ASN = 210_500
const outline = (shape: SystemShape) => ({ asn: ASN, shape })

const nameType = (type: AsType, weak = false): NamedType => ({ type, weak })

const NOTHING: SystemEvidence = {
  ...{ hosting: 0, mobile: 0, access: 0, exitBlocks: 0, rented: false, lineBlocks: 0, torListed: false },
  shape: OFFICE,
}

t.test('scattered prefixes in several countries are a host’s; an office’s and a carrier’s are not', async (t) => {
  t.equal(looksLikeHosting(outline(HOST)), true)
  t.equal(looksLikeHosting(outline(OFFICE)), false)
  t.equal(looksLikeHosting(outline(CARRIER)), false)
  const fewer = { ...HOST, countries: 1 }
  t.equal(looksLikeHosting(outline(fewer), nameType('isp')), false, 'a name that sells access weighs more')
  t.equal(looksLikeHosting(outline(fewer), nameType('isp', true)), true, 'unless its words are weak')
  const regional = { ...HOST, ipv4Addresses: 2 ** 15, ipv4Prefixes: 128 }
  t.equal(looksLikeHosting(outline(regional)), true)
  t.equal(looksLikeHosting(outline({ ...regional, countries: 1 })), false, 'so many at home are a regional carrier’s')
  t.equal(looksLikeHosting(outline({ ...regional, ipv4Addresses: 2 ** 15 - 256, countries: 1 })), true)
  t.equal(looksLikeHosting(outline({ ...HOST, ipv4Addresses: 0, ipv4Prefixes: 0 })), false, 'nothing to go by')
  const points = (more: Partial<SystemShape>) => hostPoints(outline({ ...OFFICE, ...more }))
  t.ok(points({ neighbours: 60 }) > points({ neighbours: 5 }))
  t.ok(points({ countries: 5 }) > points({ countries: 1 }))
})

t.test('a name stands unless the evidence says better', async (t) => {
  const listed = { type: 'hosting', source: 'list' } as const
  for (const [evidence, said, expected] of [
    [{}, undefined, undefined],
    [{ listed }, undefined, { type: 'hosting', basis: 'list', list: 'list' }],
    [{ listed }, 'isp', { type: 'hosting', basis: 'list', list: 'list' }],
    [{ listed }, 'hosting', undefined],
    [{ listed: { ...listed, type: 'vpn' } }, 'hosting', { type: 'vpn', basis: 'list', list: 'list' }],
    [{ listed }, 'education', undefined],
    [{ hosting: 0.5 }, undefined, { type: 'hosting', basis: 'prefixes' }],
    [{ hosting: 0.5 }, 'isp', undefined],
    [{ hosting: 0.5 }, 'weak isp', { type: 'hosting', basis: 'prefixes' }],
    [{ listed }, 'weak isp', { type: 'hosting', basis: 'list', list: 'list' }],
    [{ exitBlocks: 1 }, 'weak isp', undefined],
    [{ hosting: 0.8 }, 'isp', { type: 'hosting', basis: 'prefixes' }],
    [{ hosting: 1 }, 'government', undefined],
    [{ mobile: 0.5 }, undefined, { type: 'mobile', basis: 'prefixes' }],
    [{ access: 0.5 }, undefined, { type: 'isp', basis: 'prefixes' }],
    [{ exitBlocks: 1 }, undefined, { type: 'hosting', basis: 'prefixes' }],
    [{ exitBlocks: 1, shape: { ...OFFICE, ipv4Addresses: 4097 } }, undefined, undefined],
    [{ exitBlocks: 1 }, 'isp', undefined],
    [{ exitBlocks: 2 }, 'hosting', { type: 'vpn', basis: 'prefixes' }],
    [{ exitBlocks: 2, shape: CARRIER }, 'hosting', undefined],
    [{ shape: HOST }, undefined, { type: 'hosting', basis: 'shape' }],
    [{ shape: HOST, lineBlocks: 1 }, undefined, undefined],
    [{ shape: HOST, hosting: 0.5, lineBlocks: 1 }, undefined, { type: 'hosting', basis: 'prefixes' }],
  ] as const) {
    const name = said === undefined ? undefined : said === 'weak isp' ? nameType('isp', true) : nameType(said)
    const read = judgeSystem(ASN, { ...NOTHING, ...evidence }, name)
    t.same(read, expected, `${said}: ${JSON.stringify(evidence)}`)
  }
})

t.test('a rented host is taken for its tenants’, and an operator’s row stands whatever is listed', async (t) => {
  const rented: SystemEvidence = { ...NOTHING, rented: true }
  t.match(findSystemType(64_500, 'Made Hosting', rented), { type: 'hosting', networkClass: 'vpn', basis: 'name' })
  t.match(findSystemType(16_509, 'Amazon.com, Inc.', rented), { networkClass: 'datacenter' })
  t.match(findSystemType(64_500, 'Made Broadband', rented), { type: 'isp', networkClass: 'residential_clean' })
  const transit = { type: 'isp', networkClass: 'hosting', brand: '', basis: 'operator' } as const
  t.equal(asRented(transit, true), transit)
  t.equal(findSystemType(ASN, 'Made Broadband', { ...NOTHING, shape: HOST }).hostLike, true)
  t.equal(findSystemType(ASN, 'Made Broadband', { ...NOTHING, shape: CARRIER }).hostLike, undefined)
  t.equal(findSystemType(ASN, 'Made University', { ...NOTHING, shape: HOST }).hostLike, undefined)
  const all: SystemEvidence = { ...NOTHING, hosting: 1, exitBlocks: 9, shape: HOST, torListed: true }
  t.match(findSystemType(7922, 'Comcast', all), { type: 'isp', networkClass: 'residential_clean', basis: 'operator' })
  t.match(findSystemType(60_729, '', all), { type: 'tor', networkClass: 'hosting' })
  t.match(findSystemType(60_729, '', NOTHING), { type: 'tor', networkClass: 'tor' })
})

t.test('words that hosts use as often as carriers need a second sign', async (t) => {
  const typeWith = (name: string, evidence?: SystemEvidence) => findSystemType(4_200_000_000, name, evidence).type
  const office: SystemEvidence = { ...NOTHING, shape: OFFICE }
  const several = { ...OFFICE, ipv4Addresses: 3 * 512, ipv4Prefixes: 3, countries: 1 }
  for (const name of ['Made Networks', 'Made Internet', 'Made Communications', 'Made Online']) {
    t.equal(typeWith(name, { ...office, shape: several }), 'unknown', name)
    t.equal(typeWith(name, { ...office, shape: { ...several, ipv4Prefixes: 1 } }), 'isp', `${name}, one block`)
    const large = { ...several, ipv4Addresses: 3 * 4096 }
    t.equal(typeWith(name, { ...office, shape: large }), 'isp', `${name}, large blocks`)
    t.equal(typeWith(name, { ...office, shape: several, access: 0.1 }), 'isp', `${name}, listed lines`)
    t.equal(typeWith(name, { ...office, shape: several, lineBlocks: 1 }), 'isp', `${name}, names of lines`)
    t.equal(typeWith(name), 'isp', `${name}: where nothing else is known the name is all there is`)
  }
  t.equal(typeWith('Made Networks Broadband', { ...office, shape: several }), 'isp', 'a strong word beside it')
})
