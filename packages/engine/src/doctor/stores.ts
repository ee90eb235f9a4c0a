import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { counted, SallyportError } from '@sallyport/core'
import type { Config } from '#config'
import { type CheckResult, describeReason, type Finding, fail, failNow, ok, warn } from '#service'
import { findMissingSqlite, probeStore, type StoreProbe } from '#stores'
import { regularFault } from './file-fault.ts'

/** How far two clocks may differ: leases and windows of limits count in seconds. */
const SKEW_MS = { warn: 2_000, fail: 60_000 } as const

/** Finds faults of a store, and of its clock if it has one. */
type StoreFindings = readonly (CheckResult | Finding)[]

/** Checks the account store: a server, or the files of the dataDir. */
export async function examineStore(config: Config): Promise<StoreFindings> {
  const { store, dataDir } = config
  if (store !== undefined && !store.startsWith('sqlite:')) {
    return probed(store, 'store', 'Start PostgreSQL, or correct store: host, port, user, password and database.')
  }
  const own = store?.slice('sqlite:'.length)
  const faults = own === undefined ? [] : regularFault(own, ['store'])
  if (faults.length > 0) return faults
  // A store that does not exist yet is created at the first start.
  const named = own !== undefined && existsSync(own) ? [own] : []
  const files = [...new Set([...named, ...listDatabases(dataDir)])]
  if (files.length === 0) {
    const missing = await findMissingSqlite()
    if (missing !== undefined) return [warn('No store uses a file.', `${missing.message}.`)]
    return [ok(`SQLite in ${own ?? 'dataDir'}, created at the first start.`)]
  }
  const found: CheckResult[] = []
  const versions = new Set<string>()
  for (const file of files) {
    try {
      versions.add((await probeStore(`sqlite:${file}`)).version)
    } catch (error) {
      const isOther = /not a database|malformed/.test(describeReason(error))
      const why = isOther ? 'is not a SQLite database, or is corrupt' : `cannot be used: ${describeReason(error)}`
      const advice = 'Restore it from a backup, or move it away to create a new one.'
      found.push(fail(`${file} ${why}.`, advice, file === own ? ['store'] : ['dataDir']))
    }
  }
  const readable = `${[...versions].join(', ')}: ${files.length - found.length} of ${counted(files.length, 'file')} can be read.`
  return versions.size === 0 ? found : [ok(readable), ...found]
}

/** Checks Redis if the configuration names one. */
export async function examineRedis({ redis }: Config): Promise<StoreFindings> {
  if (redis === undefined) return [ok('No Redis is configured, so limits are counted on this machine only.')]
  const advice = 'Start Redis, or correct redis: host, port and password. Until then, each process counts limits alone.'
  return probed(redis, 'redis', advice)
}

async function probed(url: string, key: string, advice: string): Promise<StoreFindings> {
  const place = URL.canParse(url) ? new URL(url).host : 'it'
  const before = Date.now()
  let probe: StoreProbe
  try {
    probe = await probeStore(url)
  } catch (error) {
    return [unusable(error, place, withoutSecrets(describeReason(error), url), key, advice)]
  }
  const { version, now } = probe
  const reached = ok(`${version} at ${place}, ${Date.now() - before} ms.`)
  if (now === undefined) return [reached]
  return [reached, { check: 'clock', ...checkSkew(version, now, (before + Date.now()) / 2) }]
}

function unusable(error: unknown, place: string, reason: string, key: string, advice: string): CheckResult {
  if (error instanceof SallyportError && error.code === 'package_missing') {
    return fail(`${error.details?.['package']} is not installed.`, `npm install ${error.details?.['package']}`, [key])
  }
  return failNow(`${place} cannot be used: ${reason.replace(/\.$/, '')}.`, advice, [key])
}

function checkSkew(store: string, theirs: number, ours: number): CheckResult {
  const apart = Math.abs(theirs - ours)
  if (apart < SKEW_MS.warn) return ok(`The clocks of this machine and ${store} agree.`)
  const found = `The clocks of this machine and ${store} differ by ${(apart / 1_000).toFixed(0)} s.`
  const advice = 'Run an NTP client on both (timedatectl set-ntp true). Shared limits and signatures depend on it.'
  return apart < SKEW_MS.fail ? warn(found, advice) : fail(found, advice)
}

function listDatabases(dataDir: string): readonly string[] {
  try {
    return readdirSync(dataDir)
      .filter((name) => name.endsWith('.db'))
      .map((name) => join(dataDir, name))
  } catch {
    return []
  }
}

/** Removes the password: a driver may repeat the URL that it was given. */
function withoutSecrets(text: string, url: string): string {
  const { password } = URL.canParse(url) ? new URL(url) : { password: '' }
  const secrets = password === '' ? [] : [password, decodeURIComponent(password)]
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
}
