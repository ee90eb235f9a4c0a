import type { Clock, Dns } from '@sallyport/core'
import type { Config, ConfigFault, ConfigInput } from '#config'
import { type ConfigRead, configWarnings, located, NAMED_FEATURES, parseConfig } from '#config'
import { createDns } from '#net'
import { type CheckResult, createOutbound, describeReason, type Finding, fail, ok, warn } from '#service'
import { examineData, examineFeeds } from './data.ts'
import { examineDataDir } from './data-dir.ts'
import { examineFiles } from './files.ts'
import { examineDns, examineListeners, examineTrust } from './network.ts'
import { examineSite } from './site.ts'
import { examineRedis, examineStore } from './stores.ts'

export interface DoctorHooks {
  readonly clock?: Clock | undefined
  readonly dns?: Dns | undefined
  /** Address of the site, as visitors write it: it is asked whether their answers reach the gate. */
  readonly site?: string | undefined
  /** Looks at parts that another package opens by the same configuration. */
  readonly more?: readonly Look[] | undefined
}

export type Look = readonly [check: Finding['check'], examine: (config: Config) => Promise<readonly CheckResult[]>]

/** The checks in the order in which they are shown. True: a start reads or asks what the configuration names there. */
const CHECKS: Readonly<Record<Finding['check'], boolean>> = {
  dataDir: true,
  files: true,
  tls: true,
  clock: false,
  dns: false,
  store: true,
  redis: true,
  feeds: false,
  data: false,
  policy: false,
  trust: false,
  origins: true,
  api: false,
  listeners: true,
  challenge: false,
  ...Object.fromEntries(NAMED_FEATURES.map(({ name }) => [name, true])),
}

type Findings = Readonly<Record<Finding['check'], readonly CheckResult[] | undefined>>

/**
 * Looks at what a service of this configuration rests on: rights, files, clocks, DNS, stores, the age of data, rules, trust
 * and listeners; with what to do. It changes nothing but a file of one byte in the dataDir, which it removes, and asks DNS, the
 * stores, the mirror, CrowdSec, the origins and the site that are named. Rejects with `invalid_config` alone.
 */
export async function doctor(options: ConfigInput = {}, hooks: DoctorHooks = {}): Promise<readonly Finding[]> {
  const config = parseConfig(options)
  return listFindings(config, examinations(config, hooks))
}

/**
 * Faults of what a configuration names: files, certificates, addresses, stores and origins. One that may be gone in a moment,
 * as a server that is down, or for another user, is a warning.
 */
export async function examineNamed({ config, layers }: Pick<ConfigRead, 'config' | 'layers'>, hooks: DoctorHooks = {}) {
  const looks = examinations(config, hooks).filter(([check]) => CHECKS[check])
  const all = await listFindings(config, looks)
  const found = all.filter(({ state, check }) => state !== 'ok' && CHECKS[check])
  const isError = ({ state, passing = false }: Finding): boolean => state === 'fail' && !passing
  const describeFault = ({ found, path = [] }: Finding): ConfigFault =>
    // The key is said apart.
    located({ path, message: found.replace(/^[\w.]+: /, '').replace(/\.$/, '') }, config, layers)
  return {
    errors: found.filter(isError).map(describeFault),
    warnings: found.filter((finding) => !isError(finding)).map(describeFault),
  }
}

async function listFindings(config: Config, looks: ReturnType<typeof examinations>): Promise<readonly Finding[]> {
  const parts = await Promise.all(
    looks.map(async ([check, examine]): Promise<Findings> => {
      try {
        return await examine(config)
      } catch (error) {
        return {
          [check]: [
            fail(`The check could not run: ${describeReason(error)}.`, 'This is a bug in Sallyport. Please report it.'),
          ],
        }
      }
    }),
  )
  return Object.keys(CHECKS).flatMap((check) =>
    parts.flatMap((part) => part[check] ?? []).map((found) => ({ check, ...found })),
  )
}

function examinations(
  config: Config,
  { clock = { now: () => Date.now() }, dns = createDns(config.dns), site, more = [] }: DoctorHooks,
): readonly (readonly [check: Finding['check'], examine: (config: Config) => Promise<Findings>])[] {
  const outbound = createOutbound(config, { dns })
  return [
    ['dataDir', async () => ({ dataDir: await examineDataDir(config) })],
    ['files', async () => ({ files: await examineFiles(config) })],
    ['policy', async () => examineSettings(config)],
    ...more.map(([check, examine]) => [check, async (config: Config) => ({ [check]: await examine(config) })] as const),
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
    ['challenge', async () => ({ challenge: await examineSite(config, site) })],
    ...NAMED_FEATURES.map(
      ({ name, feature: { examine } }) =>
        [name, async () => ({ [name]: (await examine?.(config, outbound)) ?? [] })] as const,
    ),
  ]
}

/** Settings that are allowed and most likely not meant: of rules, and of features. */
function examineSettings(config: Config): Findings {
  const warnings = configWarnings(config, []).map(({ key = '', rule, message }) => {
    const [found = message, advice = 'Run sallyport config check for the line.'] = message.split(/; |\. (?=[A-Z])/, 2)
    return { key, result: warn(`${rule === undefined ? key : `rule "${rule}"`}: ${found}.`, advice) }
  })
  const findFeature = (key: string) =>
    NAMED_FEATURES.find(
      ({ feature: { keys, warnings } }) => warnings !== undefined && (key.split('.')[0] ?? '') in keys,
    )
  const found: Record<string, CheckResult[]> = { policy: [] }
  for (const { key, result } of warnings) {
    const check = findFeature(key)?.name ?? 'policy'
    found[check] = [...(found[check] ?? []), result]
  }
  return found['policy']?.length === 0 ? { ...found, policy: [ok('No rule hides another.')] } : found
}
