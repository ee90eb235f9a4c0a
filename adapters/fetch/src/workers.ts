import {
  compilePolicy,
  createCatalogue,
  createCrawlerVerifier,
  createFindings,
  createInspector,
  createReverseChecks,
  type Dns,
  MODES,
  type Mode,
  type Policy,
  parseTrust,
  rulesInForce,
  SallyportError,
  suggestion,
} from '@sallyport/core'
import { readBundle } from '@sallyport/engine/bundle'
import type { Decider } from '@sallyport/node'

/** Options that a decider takes in a runtime without files: a part of a service's configuration. */
export interface BundleOptions {
  /** Default: the preset `low-friction` without rules. Rules that count, and strikes, are refused. */
  readonly policy?: Partial<Policy> | undefined
  /** `enforce` or `monitor`; default: `enforce`. */
  readonly mode?: Mode | undefined
  /** CIDRs and presets of the proxies in front; default: none, and the visitor is the address that the runtime gives. */
  readonly trustProxy?: readonly string[] | undefined
  /** The header in which these proxies name the visitor; default: `x-forwarded-for`. */
  readonly clientHeader?: string | undefined
  /** The header in which these proxies name the visitor's JA4; default: none is read. */
  readonly ja4Header?: string | undefined
}

/**
 * Opens a decider over a bundle of `sallyport data bundle FILE`, for `guard` and `inspection` in runtimes without files and threads, such
 * as Cloudflare Workers. It has no places, counts, challenges, signatures, reverse names, ledger or `/v1`: a challenge becomes a block, and
 * a crawler that no published range proves is unverified. Rejects with `corrupt_data`, `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { guard } from '@sallyport/fetch'
 * import { openBundle } from '@sallyport/fetch/workers'
 *
 * export async function answer(request: Request, bundle: ArrayBuffer, address: string): Promise<Response> {
 *   const { response, end } = await guard(await openBundle(bundle), request, { address })
 *   return response ?? end(new Response('welcome'))
 * }
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/behind.md
 */
export async function openBundle(bundle: ArrayBuffer | Uint8Array, options: BundleOptions = {}): Promise<Decider> {
  checkOptions(options)
  const { mode = 'enforce', trustProxy = [] } = options
  const policy: Policy = { preset: 'low-friction', rules: [], ...options.policy }
  const counting = rulesInForce(policy).find(({ limit, concurrent }) => limit !== undefined || concurrent !== undefined)
  if (counting !== undefined || policy.strikes !== undefined) {
    const what = counting === undefined ? 'strikes' : `the rule "${counting.id}"`
    throw new SallyportError('invalid_policy', `policy: a bundle counts nothing, so ${what} would have no effect.`)
  }
  const loaded = await readBundle(bundle)
  const clock = { now: () => Date.now() }
  const snapshot = Object.freeze({ ...loaded, clock, findings: createFindings(clock) })
  const reverse = createReverseChecks({ clock, dns: NO_DNS })
  return createInspector({
    clock,
    snapshots: { current: () => snapshot },
    crawlers: createCrawlerVerifier(createCatalogue(), { reverse }),
    trust: parseTrust(trustProxy, options),
    policy: compilePolicy(policy),
    mode,
  })
}

const KEYS: readonly string[] = ['policy', 'mode', 'trustProxy', 'clientHeader', 'ja4Header']

/** Throws `invalid_config`: a misspelled key would leave the site open without notice. */
function checkOptions(options: BundleOptions): void {
  const unknown = Object.keys(options).find((key) => !KEYS.includes(key))
  if (unknown !== undefined)
    throw new SallyportError('invalid_config', `There is no option "${unknown}"${suggestion(unknown, KEYS)}.`)
  const { mode } = options
  if (mode !== undefined && !MODES.includes(mode))
    throw new SallyportError('invalid_config', `mode must be ${MODES.join(' or ')}.`)
}

const FAILED = { state: 'failed', reason: 'nobody is asked' } as const
const NO_DNS: Dns = { resolve: async () => FAILED, resolvePtr: async () => FAILED }
