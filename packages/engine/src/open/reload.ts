import {
  type Counter,
  compilePolicy,
  type FrontEnds,
  type Inspector,
  type MountPolicy,
  parseTrust,
  type Surroundings,
} from '@sallyport/core'
import type { Config, ConfigInput } from '#config/service'
import { compileMountPolicy, parseConfig, type Reloaded, takeOver } from '#config/service'
import { type Prepared, type RefusalPage, refusalPageOf, requireSecret } from '#service'

/** The part of a configuration that an inspector is made of. */
export interface Rules {
  readonly trust: ReturnType<typeof parseTrust>
  readonly policy: ReturnType<typeof compilePolicy>
  readonly mode: Config['mode']
  readonly refusalPage: RefusalPage
}

/** Throws `invalid_config` and `invalid_policy`. `surroundings`: what its policy reads besides requests. */
export function toRules(config: Config, surroundings: Surroundings, published?: () => FrontEnds | undefined): Rules {
  const policy = compilePolicy(config.policy, { ...surroundings, decoys: config.decoys.paths })
  requireSecret(config, policy)
  return {
    trust: parseTrust(config.trustProxy, config.clientHeader, published),
    policy,
    mode: config.mode,
    refusalPage: refusalPageOf(config),
  }
}

/** Rules of one mount in place of the service's own. */
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
  reload(options: ConfigInput, others?: Others): Promise<Reloaded>
}

/**
 * Parts of a host that are made of the same configuration: resolves to what takes them over. Where it rejects, nothing has
 * changed anywhere.
 */
export type Others = (config: Config) => Promise<() => void>

/** The parts of a reload, made from the rules that it takes over. */
export interface ReloadParts {
  /** An inspector's memory of visitors goes with it: it was decided by other rules. */
  createInspector(rules: Rules): Inspector
  counterOf(rules: Rules): Counter
  /** Opens what the rules need; where it rejects, the old ones stay. */
  prepare(rules: Rules): Promise<void>
  /** Opens what a configuration writes to; throws `invalid_config`. */
  prepareLog(config: Config): Prepared
  /** Readies what sends its events; returns what puts it in force. */
  prepareSinks(config: Config): () => void
  /** Those of the configuration in force. */
  surroundings(): Surroundings
  /** Reads those of another one; where it rejects, the old ones stay. */
  surround(config: Config): Promise<{ readonly surroundings: Surroundings; take(): void }>
  /** Published servers of the delivery networks that may be trusted. */
  readonly published: () => FrontEnds | undefined
}

export function createReloadable(config: Config, rules: Rules, parts: ReloadParts): Reloadable {
  const { refusalPage } = rules
  const current = { config, refusalPage, inspector: parts.createInspector(rules), counter: parts.counterOf(rules) }
  /** Seen by inspectors before this one: a count does not begin again. */
  let seen: Inspector['visits'] = { known: 0, fresh: 0 }
  let last: Promise<unknown> = Promise.resolve()
  const visits = (): Inspector['visits'] => {
    const { known, fresh } = current.inspector.visits
    return { known: seen.known + known, fresh: seen.fresh + fresh }
  }

  async function reloadNow(options: ConfigInput, others: Others): Promise<Reloaded> {
    const { config: merged, ...reloaded } = takeOver(current.config, parseConfig(options))
    const surrounded = await parts.surround(merged)
    const rules = toRules(merged, surrounded.surroundings, parts.published)
    await parts.prepare(rules)
    const takeSinks = parts.prepareSinks(merged)
    const log = parts.prepareLog(merged)
    const takeOthers = await others(merged).catch((error: unknown) => {
      log.drop()
      throw error
    })
    // Nothing below can fail: all of it is in force, or nothing.
    log.take()
    takeSinks()
    surrounded.take()
    seen = visits()
    current.inspector = parts.createInspector(rules)
    current.counter = parts.counterOf(rules)
    current.refusalPage = rules.refusalPage
    current.config = merged
    takeOthers()
    return reloaded
  }

  return {
    client: (request) => current.inspector.client(request),
    isTrusted: (peer) => current.inspector.isTrusted(peer),
    namedScheme: (request) => current.inspector.namedScheme(request),
    inspect: (request) => current.inspector.inspect(request),
    isBrowser: (request) => current.inspector.isBrowser(request),
    count: (decision, fields) => current.counter.count(decision, fields),
    decide: (request, others) => current.inspector.decide(request, others),
    decider({ policy, mode } = {}) {
      const others = {
        policy: policy === undefined ? undefined : compileMountPolicy(policy, parts.surroundings()),
        mode,
      }
      if (others.policy !== undefined) requireSecret(current.config, others.policy)
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
    reload(options, others = async () => () => {}) {
      // One after the other: an earlier one that waits for a list would put its configuration in the place of a later one.
      const turn = last.then(() => reloadNow(options, others))
      last = turn.catch(() => {})
      return turn
    },
  }
}

/** Both as one object, with the getters as they are: a spread would keep what they are now. */
export function extend<One extends object, Other extends object>(one: One, other: Other): One & Other {
  return Object.assign(Object.defineProperties({} as One, Object.getOwnPropertyDescriptors(one)), other)
}
