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

/** Examines one part of the configuration. Its findings belong to `check`, unless a finding names another check. */
export type Look = readonly [
  check: Finding['check'],
  examine: (config: Config) => Promise<readonly (CheckResult | Finding)[]>,
]

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

/**
 * Looks at what a service of this configuration rests on: rights, files, clocks, DNS, stores, the age of data, rules, trust
 * and listeners; with what to do. It changes nothing but a file of one byte in the dataDir, which it removes, and asks DNS, the
 * stores, the mirror, CrowdSec, the origins and the site that are named. Rejects with `invalid_config` alone.
 */
export async function doctor(options: ConfigInput = {}, hooks: DoctorHooks = {}): Promise<readonly Finding[]> {
  const config = parseConfig(options)
  return listFindings(config, examinations(config, hooks))
}

/** Finds faults of the files, addresses, stores and origins of a configuration. A fault that may pass, as of a server, is a warning. */
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

async function listFindings(config: Config, looks: readonly Look[]): Promise<readonly Finding[]> {
  const parts = await Promise.all(
    looks.map(async ([check, examine]): Promise<readonly Finding[]> => {
      const look = async () => examine(config)
      const found = await look().catch((error: unknown) => [
        fail(`The check could not run: ${describeReason(error)}.`, 'This is a bug in Sallyport. Please report it.'),
      ])
      return found.map((result) => ({ check, ...result }))
    }),
  )
  const all = parts.flat()
  return Object.keys(CHECKS).flatMap((name) => all.filter(({ check }) => check === name))
}

function examinations(
  config: Config,
  { clock = { now: () => Date.now() }, dns = createDns(config.dns), site, more = [] }: DoctorHooks,
): readonly Look[] {
  const outbound = createOutbound(config, { dns })
  return [
    ['dataDir', examineDataDir],
    ['files', examineFiles],
    ['policy', async () => examineSettings(config)],
    ...more,
    ['store', examineStore],
    ['redis', examineRedis],
    ['data', () => examineData(config, clock.now())],
    ['feeds', () => examineFeeds(config, dns)],
    ['dns', () => examineDns(config, dns)],
    ['trust', async () => examineTrust(config)],
    ['listeners', examineListeners],
    ['challenge', () => examineSite(config, site)],
    ...NAMED_FEATURES.map(
      ({ name, feature: { examine } }): Look => [name, async () => (await examine?.(config, outbound)) ?? []],
    ),
  ]
}

/** Settings that are allowed and most likely not meant: of rules, and of features. */
function examineSettings(config: Config): readonly Finding[] {
  const findFeature = (key: string) =>
    NAMED_FEATURES.find(
      ({ feature: { keys, warnings } }) => warnings !== undefined && (key.split('.')[0] ?? '') in keys,
    )
  const found = configWarnings(config, []).map(({ key = '', rule, message }): Finding => {
    const [sentence = message, advice = 'Run sallyport config check for the line.'] = message.split(
      /; |\. (?=[A-Z])/,
      2,
    )
    const result = warn(`${rule === undefined ? key : `rule "${rule}"`}: ${sentence}.`, advice)
    return { check: findFeature(key)?.name ?? 'policy', ...result }
  })
  const isSound = found.every(({ check }) => check !== 'policy')
  return isSound ? [...found, { check: 'policy', ...ok('No rule hides another.') }] : found
}
