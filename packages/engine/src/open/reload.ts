import {
  type Counter,
  compilePolicy,
  type FrontEnds,
  type Inspector,
  parseTrust,
  type Surroundings,
} from '@sallyport/core'
import type { Config, ConfigInput } from '#config/service'
import { compileMountPolicy, parseConfig, type Reloaded, takeOver } from '#config/service'
import { createEventRules, type EventRules } from '#features/logins'
import { type createCounting, type LogHolder, type RefusalPage, readRefusalPage, requireSecret } from '#service'
import type { SitePart } from './robots.ts'
import type { Sinks } from './sinks.ts'
import type { OpenSurroundings } from './surroundings.ts'

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
export type DeciderOptions = Omit<SitePart, 'path'>

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

/** Prepares the host's own parts; resolves to the function that applies them. If it rejects, nothing has changed anywhere. */
export type Others = (config: Config) => Promise<() => void>

/** Makes the parts of a reload from its new rules. */
export interface ReloadParts {
  /** A new inspector forgets visitors: earlier rules decided what the old one remembers. */
  createInspector(rules: Rules, config: Config): Inspector
  readonly makeCounter: CounterMaker
  /** Opens what the rules need; if it rejects, the old rules stay. */
  prepare(rules: Rules): Promise<void>
  /** Opens the data of regions for the policy of a mount. Never rejects. */
  openRegions(): Promise<void>
  readonly log: Pick<LogHolder, 'prepare'>
  readonly sinks: Pick<Sinks, 'prepare'>
  readonly surroundings: Pick<OpenSurroundings, 'current' | 'surround'>
  /** Published servers of the delivery networks that may be trusted. */
  readonly published: () => FrontEnds | undefined
}

type CounterMaker = ReturnType<typeof createCounting>['makeCounter']

/** Creates the counter of some rules, and their judge of account events: an event bans nobody, so that its counter knows no strikes. */
export function createCounters(rules: Rules, makeCounter: CounterMaker) {
  const events = createEventRules(rules, makeCounter({ ...rules, policy: { strikes: [] } }))
  return { counter: makeCounter(rules), events }
}

export function createReloadable(config: Config, rules: Rules, parts: ReloadParts): Reloadable {
  const makeCurrent = (config: Config, rules: Rules) => ({
    config,
    refusalPage: rules.refusalPage,
    inspector: parts.createInspector(rules, config),
    ...createCounters(rules, parts.makeCounter),
  })
  let current = makeCurrent(config, rules)
  /** Visits that earlier inspectors saw: the count does not restart. */
  let seen: Inspector['visits'] = { known: 0, fresh: 0 }
  let last: Promise<unknown> = Promise.resolve()
  const visits = (): Inspector['visits'] => {
    const { known, fresh } = current.inspector.visits
    return { known: seen.known + known, fresh: seen.fresh + fresh }
  }

  async function reloadNow(options: ConfigInput, others: Others): Promise<Reloaded> {
    const { config: merged, ...reloaded } = takeOver(current.config, parseConfig(options))
    const surrounded = await parts.surroundings.surround(merged)
    const rules = toRules(merged, surrounded.surroundings, parts.published)
    await parts.prepare(rules)
    const takeSinks = parts.sinks.prepare(merged)
    const log = parts.log.prepare(merged)
    const takeOthers = await others(merged).catch((error: unknown) => {
      log.drop()
      throw error
    })
    // Nothing below can fail: either everything takes effect, or nothing does.
    log.take()
    takeSinks()
    surrounded.take()
    seen = visits()
    current = makeCurrent(merged, rules)
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
    decider: (chosen) => createDecider(() => current, parts, chosen),
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
  current: () => Pick<Reloadable, 'config'> & { readonly inspector: Inspector },
  { surroundings, openRegions }: ReloadParts,
  { policy, mode }: DeciderOptions = {},
): MountDecider {
  const compiled = policy && compileMountPolicy(policy, surroundings.current())
  if (compiled !== undefined) requireSecret(current().config, compiled)
  const others = { policy: compiled, mode }
  let opening = compiled?.readsRegions ? openRegions() : undefined
  void opening?.then(() => {
    opening = undefined
  })
  return {
    decide: (request) => current().inspector.decide(request, others),
    readsCalls: (request) => current().inspector.readsCalls(request, others),
    get opening() {
      return opening
    },
  }
}

/** Combines two objects and keeps their getters: a spread would copy the present values. */
export function extend<One extends object, Other extends object>(one: One, other: Other): One & Other {
  return Object.assign(Object.defineProperties({} as One, Object.getOwnPropertyDescriptors(one)), other)
}
