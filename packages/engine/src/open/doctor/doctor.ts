import type { Clock, Dns } from '@sallyport/core'
import { createDns } from '#net'
import { parseConfig } from '../config/read.ts'
import type { Config, ConfigInput } from '../config/schema.ts'
import { examineData, examineFeeds } from './data.ts'
import { examineDataDir } from './data-dir.ts'
import { CHECKS, type CheckResult, type Finding, fail, reasonOf } from './finding.ts'
import { examineDns, examineListeners, examineTrust } from './network.ts'
import { examineRedis, examineStore } from './stores.ts'

export interface DoctorHooks {
  readonly clock?: Clock | undefined
  readonly dns?: Dns | undefined
}

type Findings = Partial<Readonly<Record<Finding['check'], readonly CheckResult[]>>>

/**
 * Looks at what a service of this configuration rests on: rights, clocks, DNS, stores, the age of data, trust and
 * listeners; with what to do. It changes nothing but a file of one byte in the dataDir, which it removes, and asks DNS, the
 * stores and the mirror that are configured. Rejects with `invalid_config` alone.
 */
export async function doctor(options: ConfigInput = {}, hooks: DoctorHooks = {}): Promise<readonly Finding[]> {
  const config = parseConfig(options)
  const parts = await Promise.all(
    examinations(config, hooks).map(async ([check, examine]): Promise<Findings> => {
      try {
        return await examine()
      } catch (error) {
        return {
          [check]: [fail(`It could not be looked at: ${reasonOf(error)}.`, 'This is a fault of Sallyport: report it.')],
        }
      }
    }),
  )
  return CHECKS.flatMap((check) => parts.flatMap((part) => part[check] ?? []).map((found) => ({ check, ...found })))
}

function examinations(
  config: Config,
  { clock = { now: () => Date.now() }, dns = createDns(config.dns) }: DoctorHooks,
): readonly (readonly [check: Finding['check'], examine: () => Promise<Findings>])[] {
  return [
    ['dataDir', async () => ({ dataDir: await examineDataDir(config) })],
    ['store', () => examineStore(config)],
    [
      'redis',
      async () => {
        const { store, clock } = await examineRedis(config)
        return { redis: store, clock }
      },
    ],
    ['data', () => examineData(config, clock.now())],
    ['feeds', async () => ({ feeds: await examineFeeds(config, dns) })],
    ['dns', async () => ({ dns: await examineDns(config, dns) })],
    ['trust', async () => ({ trust: examineTrust(config) })],
    ['listeners', async () => ({ listeners: await examineListeners(config) })],
  ]
}
