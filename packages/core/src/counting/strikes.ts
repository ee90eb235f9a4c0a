import { findField } from '../address/forwarding.ts'
import { counted } from '../counted.ts'
import { isInternal } from '../network/inside.ts'
import type { ChallengeOutcome, ChallengeStep, ChallengeTerms } from '../values/challenge.ts'
import type { CountLimit } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import type { Mode } from '../vocabulary.ts'
import type { AnswerStatus, Counted, Counter } from './counter.ts'
import { browserKey, clientKey } from './keys.ts'
import { type Ban, type BanList, type Counts, type CountTask, makeFixedTask } from './ports.ts'
import { digest, isSharedAddress } from './shared-address.ts'
import { isLedByOthers, isPersonAtHome, isUnexplained, steppedInto, type Trap } from './trap.ts'

/** Holds checked rules of bans: which strikes ban, which clients, and for how long. */
export interface CompiledStrikes {
  readonly id: string
  readonly key: 'client' | 'address' | 'user'
  readonly limit: CountLimit
  /** Counts the strikes that ban a client. */
  readonly count: number
  readonly forMs: number
  /** Challenges banned clients; without it they are refused. */
  readonly challenge?: BanChallenge | undefined
  /** Each is `flagged`, `throttled`, `blocked` or `challenge_failed`. */
  readonly actions: ReadonlySet<string>
  /** The origin's response has one of these statuses. */
  readonly statuses: ReadonlySet<number>
  /** Paths that count as a strike; by default none does. */
  readonly trap?: Trap | undefined
}

export interface BanChallenge {
  readonly terms: ChallengeTerms
  /** Reports whether a client is challenged; one that never is stays refused. */
  asks(inspection: Decision['inspection'], fields: readonly string[]): boolean
}

export interface StrikesOptions {
  readonly strikes: readonly CompiledStrikes[]
  readonly mode: Mode
  readonly counts: Counts
  readonly bans: BanList
  readonly now: () => number
  /** Reports whether an address is a trusted proxy's: a ban would hit all of its clients. By default none is. */
  readonly isTrusted?: ((address: string) => boolean) | undefined
  /** Challenges a person whom another site led into a trap; without it such strikes do not count. */
  readonly led?: BanChallenge | undefined
  /** Receives the error where a strike could not be counted, or a ban could not be kept. */
  readonly onFault: (error: unknown) => void
  /** Reports a new ban; `rule` is the id that it shows as, and the inspection belongs to the last strike. */
  readonly onBanned?: ((ban: Ban, rule: string, inspection: Decision['inspection']) => void) | undefined
}

interface Watched {
  readonly rules: CompiledStrikes
  readonly key: string
}

interface Strike {
  readonly on: string
  /** The row belongs to a trap; empty for any other offence. */
  readonly row: string
}

/** Creates a counter that refuses banned clients before it counts, and bans clients for strikes, which include traps. */
export function withStrikes(counter: Counter, options: StrikesOptions): Counter {
  const { strikes, bans, now } = options
  const countStrike = createStrikeCount(options)

  function follow({ decision, ended }: Counted, watched: readonly Watched[], fields: readonly string[]): Counted {
    return {
      decision,
      ended(status, challenge, contentType) {
        ended?.(status, challenge, contentType)
        for (const one of watched) {
          const strike = findStrike(one.rules, { decision, status, challenge, fields }, options.led !== undefined)
          if (strike === undefined || (options.led === undefined && isLed(strike))) continue
          void countStrike(one, strike, decision).catch(options.onFault)
        }
      },
    }
  }

  /** Returns the rules that watch a request. A trusted proxy shares its network with banned clients, and must not be banned for them. */
  function strikesOn({ inspection }: Decision): readonly CompiledStrikes[] {
    const isTrusted = strikes.length > 0 && options.isTrusted?.(inspection.client.address) === true
    return isTrusted ? strikes.filter(({ key }) => key === 'user') : strikes
  }

  return {
    count(decision, fields = []) {
      const watched = isExempt(decision) ? [] : listWatched(strikesOn(decision), decision.inspection, fields)
      if (watched.length === 0) return counter.count(decision, fields)
      for (const { rules, key } of watched) {
        const ban = bans.find(key)
        if (ban === undefined) continue
        const challenge = isLed(ban) ? options.led : rules.challenge
        if (challenge === undefined || !isLifted(ban, challenge, decision.inspection, now())) {
          const question = challenge?.asks(decision.inspection, fields) === true ? challenge : undefined
          // A client that is never challenged is let through.
          if (isLed(ban) && question === undefined) continue
          return { decision: refuseBanned(decision, ban, options.mode, question?.terms) }
        }
        void bans.lift(ban.id).catch(options.onFault)
      }
      const counted = counter.count(decision, fields)
      if (!(counted instanceof Promise)) return follow(counted, watched, fields)
      return counted.then((later) => follow(later, watched, fields))
    },
  }
}

/** Creates the function that counts strikes, and bans a client that had too many. */
function createStrikeCount({ strikes, counts, bans, now, onBanned }: StrikesOptions) {
  /** Bans of all rules share ids, so that a lift is remembered for the longest window. */
  const windowMs = Math.max(0, ...strikes.map(({ limit }) => limit.windowMs))

  /** Reports whether the last of some counts is exceeded, and none before it. */
  async function isBeyond(tasks: readonly CountTask[]): Promise<boolean> {
    const { states } = await counts.take(tasks, '')
    return states.length === tasks.length && states.at(-1)?.allowed === false
  }

  return async ({ rules, key }: Watched, { on, row }: Strike, { inspection }: Decision): Promise<void> => {
    const since = now()
    const { limit, forMs } = rules
    // Every process makes the same id, so that two processes that ban one client at a time make one ban.
    const id = digest(key)
    const ofOthers = isLed({ on })
    // A visitor does not pay for another site: strikes that it caused count apart.
    const prefix = `${strikesPrefix(rules, key, bans.liftedAt(id))}${ofOthers ? ' led' : ''}`
    const once = (what: string) => makeFixedTask(`${prefix} ${what}`, 1, limit.windowMs)
    // A person may be led into one decoy; a client that follows another one follows all links.
    if (on.startsWith('decoy') && isPersonAtHome(inspection) && !(await isBeyond([once(row), once(on)]))) return
    const strike = { key: prefix, cost: 1, limit, max: limit.max, binding: true }
    const tasks = [offenceTask(rules, prefix, on, 1), strike]
    if (!(await isBeyond(on.startsWith('probe') ? [once(row), ...tasks] : tasks))) return
    const words = ofOthers ? [on] : offencesIn(rules)
    const looks = words.map((word) => offenceTask(rules, prefix, word, 0))
    const { states } = await counts.take(looks, '')
    const offences = Object.fromEntries(
      words.flatMap((word, at) => (states[at]?.used ? [[word, states[at].used]] : [])),
    )
    const ban = { id, key, on, count: rules.count, offences, windowMs, since, until: since + forMs }
    const isNew = bans.find(key) === undefined
    await bans.put(ban)
    if (isNew) onBanned?.(ban, banRule(ban), inspection)
  }
}

/** Returns the key of a client's strikes. A lift changes it, so that strikes before the lift no longer count in any store. */
function strikesPrefix({ id, limit }: CompiledStrikes, key: string, liftedAt: number | undefined): string {
  return `${id} ${limit.windowMs} ${key}${liftedAt === undefined ? '' : ` ${liftedAt}`}`
}

/** Counts strikes of one word beside all strikes, so that a ban can name its offences. */
function offenceTask({ limit }: CompiledStrikes, prefix: string, word: string, cost: number): CountTask {
  const max = MAX_OFFENCES
  return { key: `${prefix} on ${word}`, cost, limit: { ...limit, max, refill: max }, max, binding: false }
}

/** No rule has a count as high. */
const MAX_OFFENCES = 1_000_000

function offencesIn({ actions, statuses, trap }: CompiledStrikes): readonly string[] {
  return [...actions, ...[...statuses].map((status) => `status:${status}`), ...(trap === undefined ? [] : [trap.on])]
}

/** Proven, allowlisted and internal clients are never banned. */
function isExempt({ inspection: { agent, network, client } }: Decision): boolean {
  return agent.identity?.verified === true || isInternal(network.reserved) || client.address === ''
}

function listWatched(
  strikes: readonly CompiledStrikes[],
  inspection: Decision['inspection'],
  fields: readonly string[],
): readonly Watched[] {
  return strikes.flatMap((rules) => {
    const key = strikeKey(rules.key, inspection, fields)
    return key === undefined ? [] : [{ rules, key }]
  })
}

/** Returns the key of a client's strikes; `undefined` where the client has none, as a user who is not logged in. */
function strikeKey(
  key: CompiledStrikes['key'],
  inspection: Decision['inspection'],
  fields: readonly string[],
): string | undefined {
  if (key === 'user') return inspection.user === undefined ? undefined : `user ${inspection.user}`
  if (key === 'address' || !isSharedAddress(inspection.network)) {
    return `client ${clientKey(inspection.client.address).narrow}`
  }
  return `client ${browserKey(inspection, fields)}`
}

/** A pass that was given after a ban began lifts it; both times are compared in whole seconds. */
function isLifted({ since }: Ban, { terms }: BanChallenge, { pass }: Decision['inspection'], now: number): boolean {
  if (pass === undefined || pass.level < terms.level) return false
  return Math.floor(now / 1_000 - pass.age) >= Math.floor(since / 1_000)
}

/** A challenge or a price is no offence. */
const DONE = {
  allow: '',
  flag: 'flagged',
  redirect: '',
  challenge: '',
  offer: '',
  throttle: 'throttled',
  block: 'blocked',
} as const

/** No client sends these solutions by bad luck. */
const WRONGS: ReadonlySet<ChallengeOutcome> = new Set<ChallengeOutcome>(['wrong', 'forged', 'spent'])

interface Done {
  readonly decision: Decision
  /** The status of the response, where the origin sent it. */
  readonly status: AnswerStatus
  readonly challenge: ChallengeStep | undefined
  readonly fields: readonly string[]
}

/**
 * Returns the strike of a request, marked where another site led its client there, or may have led it into a trap; `undefined` for none.
 * Where such a client cannot be challenged, only a named site excuses it.
 */
function findStrike(rules: CompiledStrikes, done: Done, canAsk: boolean): Strike | undefined {
  const { fields, decision } = done
  const strike = readOffence(rules, done)
  if (strike === undefined) return undefined
  const mayBeLed = canAsk && strike.row !== '' && isUnexplained(decision.inspection, fields)
  return mayBeLed || isLedByOthers(decision.inspection, fields) ? { ...strike, on: `${strike.on}${LED}` } : strike
}

function readOffence(
  { trap, actions, statuses }: CompiledStrikes,
  { decision: { action, inspection }, status, challenge, fields }: Done,
): Strike | undefined {
  const row = trap && steppedInto(trap, inspection, fields)
  if (trap !== undefined && row !== undefined) return { on: trap.on, row }
  // Requests for parts of a page are no strikes: the page shows the challenge, and its scripts may send many requests before.
  const isRefused = challenge?.outcome === 'program' && findField(fields, 'sec-fetch-dest') === undefined
  const done = DONE[isRefused ? 'block' : action]
  if (actions.has(done)) return { on: done, row: '' }
  // Two tabs of one browser may solve one challenge: the later brings the pass of the first.
  const isWrong = challenge !== undefined && WRONGS.has(challenge.outcome) && inspection.pass === undefined
  if (isWrong && actions.has('challenge_failed')) return { on: 'challenge_failed', row: '' }
  return typeof status === 'number' && statuses.has(status) ? { on: `status:${status}`, row: '' } : undefined
}

/** A ban shows as one of these rules. */
export const STRIKES_RULE = 'strikes'
export const SCANNER_RULE = 'scanner-guard'

/** The word of a strike ends like this where another site led a person to it. */
const LED = ':led'

/** Reports whether a strike, or a ban, challenges its client, whatever the rules say, because another site led the client there. */
export function isLed({ on }: Pick<Ban, 'on'>): boolean {
  return on.endsWith(LED)
}

/** Returns the id of the rule that a ban shows as. */
export function banRule({ on }: Ban): typeof STRIKES_RULE | typeof SCANNER_RULE {
  return on.startsWith('probe') ? SCANNER_RULE : STRIKES_RULE
}

/** Writes the strikes of a ban: `3 strikes: 2 status:404, 1 blocked`. */
export function strikesText(ban: Ban): string {
  return `${counted(ban.count, 'strike')}: ${offenceTexts(ban).join(', ')}`
}

function offenceTexts({ offences, on }: Ban): readonly string[] {
  const texts = Object.entries(offences ?? {}).map(([word, times]) => `${times} ${word}`)
  return texts.length === 0 ? [`the last ${on}`] : texts
}

/** Challenges the client on the terms of `challenge`; without it the client is refused. */
function refuseBanned(decision: Decision, ban: Ban, mode: Mode, challenge?: ChallengeTerms): Decision {
  const { counting: _, trial: __, challenge: ___, reasons, ...rest } = decision
  const { id, until } = ban
  const text = `The client is banned until ${new Date(until).toISOString()} for ${strikesText(ban)}. \`sallyport bans lift ${id}\` lifts the ban.`
  const reason = Object.freeze({ id: `policy:${banRule(ban)}`, text })
  return Object.freeze({
    ...rest,
    ...(challenge === undefined ? { action: 'block' as const } : { action: 'challenge' as const, challenge }),
    enforced: mode === 'enforce',
    ban: Object.freeze({ id, strikes: offenceTexts(ban), until }),
    reasons: Object.freeze([reason, ...reasons.slice(1)]),
  })
}
