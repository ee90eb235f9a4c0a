import { createHash } from 'node:crypto'
import { counted } from '../counted.ts'
import type { ChallengeOutcome, ChallengeStep, ChallengeTerms } from '../values/challenge.ts'
import type { CountLimit } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import type { Mode, NetworkClass } from '../vocabulary.ts'
import type { Counted, Counter } from './counter.ts'
import { clientKey } from './keys.ts'
import type { Ban, BanList, Counts } from './ports.ts'

/** Rules of bans, checked: for which strikes, whom and how long. */
export interface CompiledStrikes {
  readonly key: 'client' | 'address' | 'user'
  readonly limit: CountLimit
  /** Strikes that ban. */
  readonly count: number
  readonly forMs: number
  /** How banned clients are asked instead of refused; absent: they are refused. */
  readonly challenge?: BanChallenge | undefined
  /** `flagged`, `throttled`, `blocked`, `challenge_failed`. */
  readonly actions: ReadonlySet<string>
  /** Statuses of the origin's answer. */
  readonly statuses: ReadonlySet<number>
}

/** A question to banned clients. */
export interface BanChallenge {
  readonly terms: ChallengeTerms
  /** Whether a client is asked; one that never is stays refused. */
  asks(inspection: Decision['inspection'], fields: readonly string[]): boolean
}

export interface StrikesOptions {
  readonly strikes: CompiledStrikes
  readonly mode: Mode
  readonly counts: Counts
  readonly bans: BanList
  readonly ipv6Prefix: number
  readonly now: () => number
  /** A strike that could not be counted, or a ban that could not be kept. */
  readonly onFault: (error: unknown) => void
}

/** A counter that refuses banned clients before it counts, and bans those whose answers are strikes. */
export function withStrikes(counter: Counter, options: StrikesOptions): Counter {
  const { strikes, bans, ipv6Prefix, now } = options

  function follow({ decision, ended }: Counted, key: string): Counted {
    return {
      decision,
      ended(status, challenge) {
        ended?.(status, challenge)
        const on = strikeOf(strikes, decision, status, challenge)
        if (on !== undefined) void count(key, on).catch(options.onFault)
      },
    }
  }

  async function count(key: string, on: string): Promise<void> {
    const { limit, forMs } = strikes
    const task = { key: `strikes ${limit.windowMs} ${key}`, cost: 1, limit, max: limit.max, binding: true }
    const { states } = await options.counts.take([task], '')
    if (states[0]?.allowed !== false) return
    const since = now()
    await bans.put({ id: banId(key), key, on, count: strikes.count, since, until: since + forMs })
  }

  return {
    count(decision, fields = []) {
      const key = isExempt(decision) ? undefined : strikeKey(strikes.key, decision.inspection, fields, ipv6Prefix)
      if (key === undefined) return counter.count(decision, fields)
      const ban = bans.find(key)
      if (ban !== undefined) {
        const { challenge } = strikes
        if (challenge === undefined || !isLifted(ban, challenge, decision.inspection, now())) {
          const asked = challenge?.asks(decision.inspection, fields) === true ? challenge : undefined
          return { decision: banned(decision, ban, options.mode, asked?.terms) }
        }
        void bans.lift(ban.id).catch(options.onFault)
      }
      const counted = counter.count(decision, fields)
      return counted instanceof Promise ? counted.then((later) => follow(later, key)) : follow(counted, key)
    },
  }
}

/** Proven, allowlisted and reserved clients are never banned. */
function isExempt({ inspection: { agent, network, client } }: Decision): boolean {
  return agent.identity?.verified === true || network.reserved.reserved || client.address === ''
}

/** Networks in which one address is many people. */
const SHARED: ReadonlySet<NetworkClass> = new Set<NetworkClass>(['mobile', 'vpn', 'residential_proxy', 'tor'])

/** Headers that differ between browsers and not between the requests of one. */
const BROWSER: ReadonlySet<string> = new Set([
  'user-agent',
  'accept-language',
  'accept-encoding',
  'sec-ch-ua',
  'sec-ch-ua-platform',
  'sec-ch-ua-mobile',
])

/** Key of a client's strikes; `undefined` where there is no such thing, as a user who is not logged in. */
function strikeKey(
  key: CompiledStrikes['key'],
  inspection: Decision['inspection'],
  fields: readonly string[],
  ipv6Prefix: number,
): string | undefined {
  if (key === 'user') return inspection.user === undefined ? undefined : `user ${inspection.user}`
  const { narrow } = clientKey(inspection.client.address, ipv6Prefix)
  if (key === 'address' || !SHARED.has(inspection.network.verdict.classification)) return `client ${narrow}`
  return `client ${narrow} browser ${browserOf(fields)}`
}

function browserOf(fields: readonly string[]): string {
  const told: string[] = []
  for (let at = 0; at < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase()
    if (BROWSER.has(name)) told.push(`${name}:${fields[at + 1]}`)
  }
  return digest(told.sort().join('\n'))
}

/** The same in every process, so that two that ban one client at a time make one ban. */
function banId(key: string): string {
  return digest(key)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}

/** A pass that was given after a ban began lifts it; of both the whole seconds are known (D446). */
function isLifted({ since }: Ban, { terms }: BanChallenge, { pass }: Decision['inspection'], now: number): boolean {
  if (pass === undefined || pass.level < terms.level) return false
  return Math.floor(now / 1_000 - pass.age) >= Math.floor(since / 1_000)
}

/** To be asked is no wrong. */
const DONE = { allow: '', flag: 'flagged', challenge: '', throttle: 'throttled', block: 'blocked' } as const

/** Solutions that nobody sends by bad luck. */
const WRONGS: ReadonlySet<ChallengeOutcome> = new Set<ChallengeOutcome>(['wrong', 'forged', 'spent'])

/** The word for what a request did, where that is a strike. `status` is of the origin's answer. */
function strikeOf(
  strikes: CompiledStrikes,
  { action, inspection }: Decision,
  status: number | undefined,
  challenge: ChallengeStep | undefined,
): string | undefined {
  const done = DONE[action]
  if (strikes.actions.has(done)) return done
  // Two tabs of one browser may solve one question: the later brings the pass of the first (D445).
  const isWrong = challenge !== undefined && WRONGS.has(challenge.outcome) && inspection.pass === undefined
  if (isWrong && strikes.actions.has('challenge_failed')) return 'challenge_failed'
  return status !== undefined && strikes.statuses.has(status) ? `status:${status}` : undefined
}

/** Id of the rule that a ban shows as. */
export const STRIKES_RULE = 'strikes'

/** `challenge`: it is asked on these terms; else it is refused. */
function banned(decision: Decision, ban: Ban, mode: Mode, challenge?: ChallengeTerms): Decision {
  const { counting: _, trial: __, challenge: ___, reasons, ...rest } = decision
  const text = `The client is banned until ${new Date(ban.until).toISOString()}: ${counted(ban.count, 'strike')}, the last ${ban.on}.`
  const reason = Object.freeze({ id: `policy:${STRIKES_RULE}`, text })
  return Object.freeze({
    ...rest,
    ...(challenge === undefined ? { action: 'block' as const } : { action: 'challenge' as const, challenge }),
    enforced: mode === 'enforce',
    reasons: Object.freeze([reason, ...reasons.slice(1)]),
  })
}
