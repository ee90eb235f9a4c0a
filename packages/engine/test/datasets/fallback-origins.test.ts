import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { openTables } from './fixtures.ts'

const FIRST = '23.0.0.0,23.0.0.255,64500,First Hosting'
const SECOND = [
  '23.0.0.0\t23.0.1.255\t64501\tDE\tSecond Hosting',
  '23.0.3.0\t23.0.3.255\t64500\tDE\tAnother name of the first',
  '23.0.9.0\t23.0.9.255\t0\tNone\tNot routed',
  '2a00:1::\t2a00:1::ffff\t64503\tDE\tSix "A"',
].join('\n')
const HOLDERS = `2.3|nro|20261120|8|19700101|20261119|+0000
nro|*|asn|*|2|summary
ripencc|DE|asn|64502|1|20010203|allocated|aaaa|e-stats
ripencc|DE|asn|64503|1|20010203|allocated|aaaa|e-stats
ripencc|DE|ipv4|23.0.0.0|1280|20010203|allocated|aaaa|e-stats
arin|US|ipv4|23.0.8.0|256|20010203|assigned|aaaa|e-stats
ripencc||ipv4|23.0.16.0|4096||available||e-stats
ripencc|DE|ipv6|2a00:2::|32|20010203|allocated|aaaa|e-stats
`

t.test('a second table of origins is asked where the first has no system, then the registries', async (t) => {
  const { networks, systems } = await openTables(t, { 'asn-csv-v4': FIRST, iptoasn: SECOND, 'nro-delegated': HOLDERS })
  const systemAt = (text: string) => networks?.find(makeAddress(text))?.system
  t.match(systemAt('23.0.0.9'), { asn: 64500, name: 'First Hosting' })
  t.match(systemAt('23.0.1.9'), { asn: 64501, name: 'Second Hosting', networkClass: 'hosting' })
  t.match(systemAt('23.0.3.9'), { asn: 64500, name: 'First Hosting' }, 'a name in the first table counts')
  t.match(systemAt('23.0.2.9'), { asn: 64502, name: 'AS64502' }, 'the first system of the holder')
  t.match(systemAt('23.0.4.255'), { asn: 64502 }, 'of five /24s, which are no prefix')
  t.equal(systemAt('23.0.5.0'), undefined)
  t.equal(systemAt('23.0.8.1'), undefined, 'a holder is one registry’s')
  t.equal(systemAt('23.0.16.1'), undefined, 'what is free has no holder')
  t.match(systemAt('2a00:1::9'), { asn: 64503, name: 'Six "A"' })
  t.match(systemAt('2a00:2::9'), { asn: 64502 })
  const sizes = [64500, 64501].map((asn) => systems?.ipv4Addresses(systems.indexOf(asn)))
  t.same(sizes, [512, 256])
})

t.test('each serves alone, and is refused whole where it is none', async (t) => {
  const alone = await openTables(t, { 'nro-delegated': HOLDERS })
  t.match(alone.networks?.find(makeAddress('23.0.0.9'))?.system, { asn: 64502 })
  const origins = await openTables(t, { iptoasn: SECOND })
  t.equal(origins.networks?.find(makeAddress('23.0.9.1')), undefined, 'not routed')
  t.match(origins.sources, [{ id: 'iptoasn', state: 'loaded', entries: 3 }])
  t.match((await openTables(t, { iptoasn: 'x\ty\n' })).sources, [{ id: 'iptoasn', state: 'refused' }])
  const state = async (text: string) =>
    (await openTables(t, { 'nro-delegated': text })).sources.find(({ id }) => id === 'nro-delegated')?.state
  t.equal(await state('ripencc|DE|ipv4|23.0.0.0|many|20010203|allocated|aaaa'), 'refused')
  t.equal(await state('ripencc|DE|ipv6|2a00::|129|20010203|allocated|aaaa'), 'refused')
  t.equal(await state('<html>'), 'refused')
  t.equal(await state(''), 'refused')
})
