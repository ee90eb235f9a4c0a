import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { resolveFeeds } from '#datasets'
import { writeMmdb } from '#datasets/testing'
import type { ConfigInput } from '../../src/config/schema.ts'

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
  const sources = Object.fromEntries([
    ...Object.entries(switchOff('asn-country-v6', 'dbip-city-v4', 'dbip-city-v6', 'throwaway-mail')),
    ...Object.entries(made).map(([id, text]) => {
      const file = join(folder, `${id}.source`)
      writeFileSync(file, text)
      return [id, { url: pathToFileURL(file).href }]
    }),
  ])
  return { dataDir: join(folder, 'state'), data: { refresh: false, sources } }
}

const switchOff = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, { enabled: false }]))

/** Every source that comes with a release, switched off: a service without data opens at once. */
export const NO_SOURCES = switchOff(
  ...'asn-csv-v4 asn-csv-v6 asn-country-v4 asn-country-v6 dbip-city-v4 dbip-city-v6'.split(' '),
)

/** Configures the made network and these feeds of this machine alone, by id and URL. */
export function feedConfig(
  folder: string,
  feeds: Readonly<Record<string, string>>,
  data: ConfigInput['data'] = {},
): ConfigInput {
  const base = madeConfig(folder)
  const off = switchOff(...resolveFeeds().map(({ row }) => row.id))
  const own = Object.fromEntries(Object.entries(feeds).map(([id, url]) => [id, { url }]))
  const sources = { ...off, ...base.data?.sources, ...own, ...data.sources }
  return { ...base, data: { refresh: false, ...data, sources }, net: { allowPrivate: ['127.0.0.1/32'] } }
}

/** A city database in which the lower half of IPv4 is in Bern, and the upper nowhere. */
export function bernDatabase(): Buffer {
  return writeMmdb({ '0.0.0.0/1': { city: 'Bern', country_code: 'CH' } }, { ipVersion: 4 })
}
