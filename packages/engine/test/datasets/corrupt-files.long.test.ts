import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import t from 'tap'
import { CHECKSUM_AT, computeChecksum, DESCRIPTION_AT, type FileForm } from '../../src/datasets/columns/column-file.ts'
import type { ColumnTypes } from '../../src/datasets/columns/column-view.ts'
import { readColumns } from '../../src/datasets/columns/decode.ts'
import { compileCity } from '../../src/datasets/compile/city.ts'
import { CITY_FORM, CITY_FORMAT, COUNTRIES_FORM } from '../../src/datasets/format/city.ts'
import { TABLES_FORM, TABLES_FORMAT } from '../../src/datasets/format/tables.ts'
import { countriesPath, isCity, loadCity, loadCountries, loadTables } from '../../src/datasets/index.ts'
import { writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { folder, openTables, writeSources } from './fixtures.ts'

interface Kind {
  readonly form: FileForm<ColumnTypes>
  readonly format: number
  /** Makes a file of which every column has something in it. */
  readonly make: (t: Parameters<typeof folder>[0]) => Promise<string>
  readonly load: (source: string | SharedArrayBuffer) => object
}

const KINDS: Readonly<Record<string, Kind>> = {
  tables: {
    form: TABLES_FORM,
    format: TABLES_FORMAT,
    load: loadTables,
    make: async (t) => {
      const sources = {
        'asn-csv-v4': '23.0.0.0,23.0.0.255,64500,Access',
        'asn-csv-v6': '2a00:1::5,2a00:1::ffff,64501,Six',
        'asn-country-v4': '23.0.0.0,23.0.0.255,DE',
        'asn-country-v6': '2a00:1::5,2a00:1::ffff,SE',
        'x4bnet-vpn-ipv4': '23.0.0.0/25',
        'tor-bulk-exit': '23.0.0.7\n2a00:1::7',
      }
      return (await openTables(t, sources)).path
    },
  },
  city: { form: CITY_FORM, format: CITY_FORMAT, load: loadCity, make: async (t) => (await makeCity(t)).city },
  countries: {
    form: COUNTRIES_FORM,
    format: CITY_FORMAT,
    load: loadCountries,
    make: async (t) => (await makeCity(t)).countries,
  },
}

async function makeCity(t: Parameters<typeof folder>[0]) {
  const place = { city: 'Bonn', country_code: 'DE', latitude: 50.7, longitude: 7.1, postcode: '53111' }
  const record = { ...place, location: { accuracy_radius: 5 } }
  const dir = folder(t)
  const file = writeMmdb({ '23.0.0.0/24': record, '2a00:1::/72': record }, { ipVersion: 6 })
  const source = writeSources(dir, { city: file }).find(isCity)
  if (source === undefined) throw new Error('no city source')
  return { city: (await compileCity({ dataDir: dir, source })).path, countries: countriesPath(dir, source) }
}

for (const [kind, { form, format, make, load }] of Object.entries(KINDS)) {
  /** A refusal that names the file; anything else that is thrown is a crash. */
  const refusal = (path: string, contents: Uint8Array): string => {
    writeFileSync(path, contents)
    try {
      load(path)
    } catch (error) {
      if (error instanceof SallyportError && error.code === 'corrupt_data' && error.message.startsWith(path))
        return 'refused'
      return String(error)
    }
    return 'loaded'
  }

  t.test(`${kind}: a changed byte, a file cut short and one with more behind it are refused by name`, async (t) => {
    const path = await make(t)
    const good = readFileSync(path)
    const target = join(folder(t), 'compiled.bin')
    t.equal(refusal(target, good), 'loaded')
    const changeByte = (at: number, bit = 1) => {
      const bytes = Buffer.from(good)
      bytes[at] = (bytes[at] as number) ^ bit
      return refusal(target, bytes)
    }
    for (const at of [...Array(DESCRIPTION_AT).keys(), DESCRIPTION_AT + 20])
      t.equal(changeByte(at), 'refused', `byte ${at} of the head and the description`)
    const columns = Object.entries(readColumns(form, path).columns)
    for (const [name, { byteOffset, byteLength }] of columns) {
      t.ok(byteLength > 0, `${name} is not empty`)
      for (const at of [byteOffset, byteOffset + byteLength - 1]) t.equal(changeByte(at, 0x80), 'refused', name)
    }
    const steps = Array.from({ length: 50 }, (_, step) => Math.floor((good.length * step) / 50))
    for (const length of [...Array(58).keys(), ...steps, good.length - 1])
      t.equal(refusal(target, good.subarray(0, length)), 'refused', `${length} bytes`)
    t.equal(refusal(target, Buffer.concat([good, Buffer.from([0])])), 'refused', 'one byte more')
    t.equal(refusal(target, Buffer.alloc(good.length)), 'refused', 'only zeros')
    t.equal(refusal(target, Buffer.from('<html>404</html>'.repeat(20))), 'refused', 'a web page')
  })

  t.test(`${kind}: a file of another format is refused although its checksum fits`, async (t) => {
    const bytes = readFileSync(await make(t))
    bytes.writeUInt32LE(bytes.readUInt32LE(8) + 1, 8)
    bytes.set(computeChecksum(bytes), CHECKSUM_AT)
    const target = join(folder(t), 'compiled.bin')
    t.equal(refusal(target, bytes), 'refused')
    const message = new RegExp(`the file has format ${format + 1}, but this version reads format ${format}`)
    t.throws(() => load(target), { message })
    const { buffer } = Uint8Array.from(bytes)
    t.throws(() => load(buffer as unknown as SharedArrayBuffer), { message }, 'in memory as well')
  })

  t.test(`${kind}: a file that is not there is missing, and a folder is no file`, async (t) => {
    const dir = folder(t)
    t.throws(() => load(join(dir, 'no.bin')), { code: 'missing_data', message: /no\.bin/ })
    t.throws(() => load(dir), { code: 'corrupt_data', message: new RegExp(dir) })
  })
}
