import t from 'tap'
import { readSystemRanges } from '../../src/datasets/parse/system-ranges.ts'

function read(text: string, family: 4 | 6 = 4) {
  const { ranges, asns, names } = readSystemRanges({ path: 'asn.csv', bytes: Buffer.from(text) }, family)
  const values = Array.from(ranges.values, (number) => asns[number])
  return { values, names: Object.fromEntries(asns.map((asn, number) => [asn, names[number]])), ranges }
}

/** Enough good lines that one bad one is below 1 %. */
const PADDING = Array.from({ length: 200 }, (_, index) => `9.0.${index}.0,9.0.${index}.255,9,Nine\n`).join('')

t.test('names may hold commas, quotes and letters of any language', async (t) => {
  const { names, values } = read(
    [
      '1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."',
      '2.26.200.0,2.26.215.255,201907,"LLC ""SPUTNIK"""',
      '3.0.0.0,3.0.0.0,3,Telefónica Łódź',
      '4.0.0.0,4.0.0.1,4,',
      '5.0.0.0,5.0.0.1,5,  Lake Networks ',
      '6.0.0.0,6.0.0.1,4294967295,"a,b"",""c"',
    ].join('\n'),
  )
  t.same(names, {
    13335: 'Cloudflare, Inc.',
    201907: 'LLC "SPUTNIK"',
    3: 'Telefónica Łódź',
    4: 'AS4',
    5: 'Lake Networks',
    4294967295: 'a,b","c',
  })
  t.same(values, [13335, 201907, 3, 4, 5, 4294967295])
})

t.test('both families are read, each from its own file only, and lines may end in CRLF or be empty', async (t) => {
  t.same(read('1.0.0.0,1.0.0.255,1,One\r\n\r\n\n2.0.0.0,2.0.0.255,2,Two').names, { 1: 'One', 2: 'Two' })
  const { ranges } = read('2001:200::,2001:200:1b9:ffff:ffff:ffff:ffff:ffff,2500,WIDE', 6)
  t.same(Array.from(ranges.firsts), [0x20010200, 0, 0, 0])
  t.same(Array.from(ranges.lasts), [0x20010200, 0x01b9ffff, 0xffffffff, 0xffffffff])
  t.throws(() => read('2001:200::,2001:200::ffff,2500,WIDE', 4), { code: 'corrupt_data' })
  t.throws(() => read('1.0.0.0,1.0.0.255,1,One', 6), { code: 'corrupt_data' })
})

const BAD_LINES = [
  '1.0.0.0,1.0.0.255',
  '1.0.0.0,1.0.0.255,13335',
  '1.0.0.0,1.0.0.255,x,Name',
  '1.0.0.0,1.0.0.255,4294967296,Name',
  '1.0.0.0,1.0.0.256,1,Name',
  '1.0.0.255,1.0.0.0,1,Name',
  '1.0.0.0,1.0.0.255,7777,"Name',
  '1.0.0.0,1.0.0.255,7777,"Na"me"',
  '176.221.42.3254.174.140.223,1.0.0.255,1,Name',
  '<!doctype html>',
]

t.test('one bad line in a hundred is dropped, and more refuse the file by name', async (t) => {
  for (const line of BAD_LINES) {
    const { values, names } = read(`${line}\n${PADDING}`)
    t.same([values.length, Object.keys(names)], [200, ['9']], line)
  }
  const bad = BAD_LINES.slice(0, 3).join('\n')
  t.throws(() => read(`${bad}\n${PADDING}`), { code: 'corrupt_data', message: /^asn\.csv: 3 of 203 lines/ })
  t.throws(() => read(''), { code: 'corrupt_data', message: /^asn\.csv: no line/ })
  t.throws(() => read('x\n'.repeat(300_000)), { code: 'corrupt_data' })
})
