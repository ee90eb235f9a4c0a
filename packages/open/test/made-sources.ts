import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ConfigInput } from '../src/config/schema.ts'

/** The made network: real operators on addresses that they do not have, so that a test needs no data package. */
const IPV4 = [
  '8.1.0.0,8.1.255.255,7922,"Comcast Cable Communications, LLC"',
  '8.2.0.0,8.2.255.255,24940,Hetzner Online GmbH',
  '8.3.0.0,8.3.255.255,209103,Proton AG',
  '8.4.0.0,8.4.255.255,60729,Stiftung Erneuerbare Freiheit',
]
const IPV6 = ['2a01:4f8::,2a01:4f8:ffff:ffff:ffff:ffff:ffff:ffff,24940,Hetzner Online GmbH']
const COUNTRIES = [
  '8.1.0.0,8.1.255.255,US',
  '8.2.0.0,8.2.255.255,DE',
  '8.3.0.0,8.3.255.255,CH',
  '8.4.0.0,8.4.255.255,DE',
]

/** A configuration in `folder` that compiles in milliseconds; `files` replace or add sources by id. */
export function madeConfig(folder: string, files: Readonly<Record<string, string | Buffer>> = {}): ConfigInput {
  const made: Readonly<Record<string, string | Buffer>> = {
    'asn-csv-v4': `${IPV4.join('\n')}\n`,
    'asn-csv-v6': `${IPV6.join('\n')}\n`,
    'asn-country-v4': `${COUNTRIES.join('\n')}\n`,
    ...files,
  }
  const off = { 'asn-country-v6': {}, 'dbip-city-v4': {}, 'dbip-city-v6': {} }
  const sources = Object.fromEntries([
    ...Object.keys(off).map((id) => [id, { enabled: false }]),
    ...Object.entries(made).map(([id, text]) => {
      const file = join(folder, `${id}.source`)
      writeFileSync(file, text)
      return [id, { url: pathToFileURL(file).href }]
    }),
  ])
  return { dataDir: join(folder, 'state'), data: { refresh: false, sources } }
}

/**
 * The smallest city database there is: one node, of which the lower half of IPv4 is in Bern and the upper nowhere.
 * `unused` bytes make it large enough for a thread of its own.
 */
export function oneNodeDatabase(unused = 0): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([0x40 | value.length]), Buffer.from(value)])
  const map = (...members: readonly Buffer[]) => Buffer.concat([Buffer.from([0xe0 | (members.length / 2)]), ...members])
  const number = (value: number) => Buffer.from([0xc2, value >> 8, value & 255])
  const nodeCount = 1
  const tree = Buffer.from([0, 0, nodeCount + 16, 0, 0, nodeCount])
  const record = map(text('city'), text('Bern'), text('country_code'), text('CH'))
  const metadata = map(
    ...[text('binary_format_major_version'), number(2), text('binary_format_minor_version'), number(0)],
    ...[text('build_epoch'), number(1), text('database_type'), text('Made-City'), text('description'), map()],
    ...[text('ip_version'), number(4), text('languages'), Buffer.from([0, 4])],
    ...[text('node_count'), number(nodeCount), text('record_size'), number(24)],
  )
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    record,
    Buffer.alloc(unused),
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    metadata,
  ])
}
