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
import type { EventRules } from '#features/logins'
import { type Prepared, type RefusalPage, readRefusalPage, requireSecret } from '#service'

/** The part of a configuration that an inspector depends on. */
export type Rules = ReturnType<typeof toRules>

/** Compiles rules; `surroundings` is what policies read besides requests. Throws `invalid_config` and `invalid_policy`. */
export function toRules(config: Config, surroundings: Surroundings, published?: () => FrontEnds | undefined) {
  const policy = compilePolicy(config.policy, { ...surroundings, decoys: config.decoys.paths })
  requireSecret(config, policy)
  return {
    trust: parseTrust(config.trustProxy, config, published),
    policy,
    mode: config.mode,
    refusalPage: readRefusalPage(config),
  }
}

/** Rules of one mount that replace the service's own. */
export interface DeciderOptions {
  readonly policy?: MountPolicy | undefined
  readonly mode?: Config['mode'] | undefined
}

/** Decides by the rules of one mount. */
export interface MountDecider extends Pick<Inspector, 'decide' | 'readsCalls'> {
  /** Resolves when the data that the rules read is open; absent afterwards. Until then no region is known. */
  readonly opening: Promise<void> | undefined
}

/** Makes the deciders of mounts. */
export interface Deciders {
  /**
   * Makes a decider of one mount, over the same data and the same memory of visitors. It compiles the mount's policy now; an absent policy
   * or mode is the service's, also after a reload. Throws `invalid_config` and `invalid_policy`.
   */
  decider(options?: DeciderOptions): MountDecider
}

/** Combines an inspector and a counter, which a reload replaces, with the configuration in force. */
export interface Reloadable extends Inspector, Counter, Deciders {
  /** Judges events of accounts by the rules in force. */
  readonly events: EventRules
  readonly config: Config
  readonly refusalPage: RefusalPage
  reload(options: ConfigInput, others?: Others): Promise<Reloaded>
}

/**
 * Prepares the host's own parts for a configuration; resolves to the function that applies them. If it rejects, nothing has changed
 * anywhere.
 */
export type Others = (config: Config) => Promise<() => void>

/** Makes the parts of a reload from its new rules. */
export interface ReloadParts {
  /** A new inspector forgets visitors: earlier rules decided what the old one remembers. */
  createInspector(rules: Rules): Inspector
  counterOf(rules: Rules): Counter
  eventsOf(rules: Rules): EventRules
  /** Opens what the rules need; if it rejects, the old rules stay. */
  prepare(rules: Rules): Promise<void>
  /** Opens the data of regions for the policy of a mount. Never rejects. */
  openRegions(): Promise<void>
  /** Opens the outputs of a configuration; throws `invalid_config`. */
  prepareLog(config: Config): Prepared
  /** Prepares the sinks for its events; returns the function that puts them in force. */
  prepareSinks(config: Config): () => void
  /** Returns the surroundings of the configuration in force. */
  surroundings(): Surroundings
  /** Reads the surroundings of another configuration; if it rejects, the old ones stay. */
  surround(config: Config): Promise<{ readonly surroundings: Surroundings; take(): void }>
  /** Published servers of the delivery networks that may be trusted. */
  readonly published: () => FrontEnds | undefined
}

export function createReloadable(config: Config, rules: Rules, parts: ReloadParts): Reloadable {
  const current = {
    config,
    refusalPage: rules.refusalPage,
    inspector: parts.createInspector(rules),
    counter: parts.counterOf(rules),
    events: parts.eventsOf(rules),
  }
  /** Visits that earlier inspectors saw: the count does not restart. */
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
    // Nothing below can fail: either everything takes effect, or nothing does.
    log.take()
    takeSinks()
    surrounded.take()
    seen = visits()
    current.inspector = parts.createInspector(rules)
    current.counter = parts.counterOf(rules)
    current.events = parts.eventsOf(rules)
    current.refusalPage = rules.refusalPage
    current.config = merged
    takeOthers()
    return reloaded
  }

  return {
    client: (request) => current.inspector.client(request),
    isTrusted: (peer) => current.inspector.isTrusted(peer),
    namedScheme: (request) => current.inspector.namedScheme(request),
    namedJa4: (request) => current.inspector.namedJa4(request),
    inspect: (request) => current.inspector.inspect(request),
    isBrowser: (request) => current.inspector.isBrowser(request),
    count: (decision, fields) => current.counter.count(decision, fields),
    decide: (request, others) => current.inspector.decide(request, others),
    readsCalls: (request, others) => current.inspector.readsCalls(request, others),
    decider: (chosen) => createDecider(current, parts, chosen),
    check: (address, described) => current.inspector.check(address, described),
    get events() {
      return current.events
    },
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
      // Reloads run one after the other: an earlier one that waits for a list would otherwise replace a later configuration.
      const turn = last.then(() => reloadNow(options, others))
      last = turn.catch(() => {})
      return turn
    },
  }
}

/** Judges requests with the inspector of each moment, by a policy or a mode of a mount. */
function createDecider(
  current: Pick<Reloadable, 'config'> & { readonly inspector: Inspector },
  parts: ReloadParts,
  { policy, mode }: DeciderOptions = {},
): MountDecider {
  const compiled = policy && compileMountPolicy(policy, parts.surroundings())
  if (compiled !== undefined) requireSecret(current.config, compiled)
  const others = { policy: compiled, mode }
  let opening = compiled?.readsRegions ? parts.openRegions() : undefined
  void opening?.then(() => {
    opening = undefined
  })
  return {
    decide: (request) => current.inspector.decide(request, others),
    readsCalls: (request) => current.inspector.readsCalls(request, others),
    get opening() {
      return opening
    },
  }
}

/** Combines two objects and keeps their getters: a spread would copy the present values. */
export function extend<One extends object, Other extends object>(one: One, other: Other): One & Other {
  return Object.assign(Object.defineProperties({} as One, Object.getOwnPropertyDescriptors(one)), other)
}
