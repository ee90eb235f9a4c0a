import { isDeepStrictEqual } from 'node:util'
import {
  type Counter,
  compilePolicy,
  type FrontEnds,
  type Inspector,
  type MountPolicy,
  parseTrust,
} from '@sallyport/core'
import { compileMountPolicy } from './config/mount-policy.ts'
import { parseConfig } from './config/read.ts'
import type { Config, ConfigInput } from './config/schema.ts'
import { type RefusalPage, refusalPageOf } from './refusal-page.ts'

/** What a reload came to. */
export interface Reloaded {
  /** Keys whose new values are in force. */
  readonly changed: readonly string[]
  /** Keys whose new values are in force after a restart only. */
  readonly needRestart: readonly string[]
}

/** Keys that a running service takes over; what listens, and where data is kept, stays as it was opened. */
const LIVE: ReadonlySet<string> = new Set<keyof Config>([
  ...(['policy', 'mode', 'trustProxy', 'clientHeader', 'paths', 'methods'] as const),
  ...(['upstream', 'routes', 'limits', 'timeouts', 'refusal', 'log', 'forwardAuth', 'handoff', 'robots'] as const),
])

/** Whether a running service takes over what has become of a key. TLS begins and ends with the listener. */
function isLive(key: string, before: Config, after: Config): boolean {
  if (key === 'tls') return before.tls !== undefined && before.tls.http2 === after.tls?.http2
  return LIVE.has(key)
}

/** What of a configuration an inspector is made of. */
export interface Rules {
  readonly trust: ReturnType<typeof parseTrust>
  readonly policy: ReturnType<typeof compilePolicy>
  readonly mode: Config['mode']
  readonly refusalPage: RefusalPage
}

/** Throws `invalid_config` and `invalid_policy`. */
export function rulesOf(config: Config, published?: () => FrontEnds | undefined): Rules {
  return {
    trust: parseTrust(config.trustProxy, config.clientHeader, published),
    policy: compilePolicy(config.policy),
    mode: config.mode,
    refusalPage: refusalPageOf(config),
  }
}

/** Which keys differ between two configurations. */
function compareConfigs(before: Config, after: Config): Reloaded {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Config)[]
  const differing = keys.filter((key) => !isDeepStrictEqual(before[key], after[key]))
  const needRestart: string[] = differing.filter((key) => !isLive(key, before, after))
  // The API counts its clients by it from the start.
  if (before.limits.ipv6Prefix !== after.limits.ipv6Prefix) needRestart.push('limits.ipv6Prefix')
  return { changed: differing.filter((key) => isLive(key, before, after)), needRestart }
}

/** The configuration in force after a reload: of what needs a restart, the values before. */
function mergeLive(before: Config, after: Config): Config {
  const live = Object.entries(after).filter(([key]) => isLive(key, before, after))
  const kept = Object.entries(before).filter(([key]) => !isLive(key, before, after))
  const limits = { ...after.limits, ipv6Prefix: before.limits.ipv6Prefix }
  return { ...(Object.fromEntries([...kept, ...live]) as Config), limits }
}

/** What decides at one mount in place of the service's own. */
export interface DeciderOptions {
  readonly policy?: MountPolicy | undefined
  readonly mode?: Config['mode'] | undefined
}

/** Makes the deciders of mounts. */
export interface Deciders {
  /**
   * A decider of one mount, over the same data and the same memory of visitors: its policy, compiled now, and its mode,
   * each the service's where absent, also after a reload. Throws `invalid_config` and `invalid_policy`.
   */
  decider(options?: DeciderOptions): Pick<Inspector, 'decide'>
}

/** An inspector and a counter that are others after a reload, and the configuration in force. */
export interface Reloadable extends Inspector, Counter, Deciders {
  readonly config: Config
  readonly refusalPage: RefusalPage
  reload(options: ConfigInput): Promise<Reloaded>
}

/** What a reload makes from the rules that it takes over. */
export interface ReloadParts {
  /** What an inspector knew of visitors goes with it, because it was decided by other rules. */
  createInspector(rules: Rules): Inspector
  counterOf(rules: Rules): Counter
  /** Opens what the rules need; where it rejects, the old ones stay. */
  prepare(rules: Rules): Promise<void>
  take(config: Config): void
  /** What delivery networks that may be trusted publish of their servers. */
  readonly published: () => FrontEnds | undefined
}

export function createReloadable(config: Config, rules: Rules, parts: ReloadParts): Reloadable {
  const { refusalPage } = rules
  const current = { config, refusalPage, inspector: parts.createInspector(rules), counter: parts.counterOf(rules) }
  /** Seen by inspectors before this one: a count does not begin again. */
  let seen: Inspector['visits'] = { known: 0, fresh: 0 }
  const visits = (): Inspector['visits'] => {
    const { known, fresh } = current.inspector.visits
    return { known: seen.known + known, fresh: seen.fresh + fresh }
  }
  return {
    client: (request) => current.inspector.client(request),
    isTrusted: (peer) => current.inspector.isTrusted(peer),
    inspect: (request) => current.inspector.inspect(request),
    count: (decision, fields) => current.counter.count(decision, fields),
    decide: (request, others) => current.inspector.decide(request, others),
    decider({ policy, mode } = {}) {
      const others = { policy: policy === undefined ? undefined : compileMountPolicy(policy), mode }
      return { decide: (request) => current.inspector.decide(request, others) }
    },
    check: (address, described) => current.inspector.check(address, described),
    get visits() {
      return visits()
    },
    get singleHeader() {
      return current.inspector.singleHeader
    },
    get refusalPage() {
      return current.refusalPage
    },
    get config() {
      return current.config
    },
    async reload(options) {
      const next = parseConfig(options)
      const merged = mergeLive(current.config, next)
      const reloaded = compareConfigs(current.config, next)
      const rules = rulesOf(merged, parts.published)
      await parts.prepare(rules)
      parts.take(merged)
      seen = visits()
      current.inspector = parts.createInspector(rules)
      current.counter = parts.counterOf(rules)
      current.refusalPage = rules.refusalPage
      current.config = merged
      return reloaded
    },
  }
}

/** Both as one object, with the getters as they are: a spread would keep what they are now. */
export function extend<One extends object, Other extends object>(one: One, other: Other): One & Other {
  return Object.assign(Object.defineProperties({} as One, Object.getOwnPropertyDescriptors(one)), other)
}
