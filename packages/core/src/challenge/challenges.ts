import { clientKey, WIDE_FACTOR } from '../counting/keys.ts'
import type { CountTask } from '../counting/ports.ts'
import type { RedeemFault } from '../values/challenge.ts'
import type { InspectionRequest } from '../values/request.ts'
import { askerOf, askerPartsOf } from './asker.ts'
import { createAskingBound } from './asking-bound.ts'
import { createPassGiver, DEGRADED_PASS_SECONDS, type Given } from './giver.ts'
import { createPassReader, type PassReader } from './pass.ts'
import { createPassNetworks } from './pass-networks.ts'
import { createAsking } from './provider.ts'
import { createChallengeReader } from './reader.ts'
import { createRuleTags } from './rule-tags.ts'
import type { ChallengeSecret } from './secrets.ts'
import type { AskedFor, ChallengesOptions, IssuedChallenge, Redeemed, Redeemer } from './terms.ts'
import { CHALLENGE_MS, type Challenge, type OpenedChallenge, RANDOM_BYTES, sealChallenge } from './token.ts'
import { isOfWidget, isSolved, WIDGET_WORK, WORK } from './work.ts'

export interface Challenges {
  readonly passOf: PassReader
  /**
   * Counts that a client is to have a question, or to have a solution looked at; false where it has had its share. It comes before
   * all else here: what is beyond is to cost nothing.
   */
  admits(client: Pick<Redeemer, 'address'>): boolean
  /** A challenge for who sent a request: the one that it waits for already, if it brings that; else, or if `fresh`, a new one. */
  issue(request: InspectionRequest, asked: AskedFor, fresh?: boolean): IssuedChallenge
  /** Whether a request brings a challenge of such terms that was waited for, so that it can be redeemed. */
  hasWaited(request: InspectionRequest, asked: AskedFor): boolean
  /** Gives a pass for the challenge that a request waited for. Never rejects. */
  redeemWaited(request: InspectionRequest, asked: AskedFor, client: Redeemer): Promise<Redeemed>
  /**
   * Gives a pass for the solution in `SOLUTION_FIELD`: the challenge, a dot, and its numbers with commas between, or the token of
   * the provider. Never rejects.
   */
  redeem(request: InspectionRequest, solution: string, client: Redeemer): Promise<Redeemed>
}

/** Characters of the numbers of a solution. */
const MAX_NUMBERS = 2_048

/** Answers of a client that are looked at in a minute: solutions, and questions that it waited for. */
const REDEEMS = { kind: 'sliding', max: 30, windowMs: 60_000, refill: 30 } as const
const WIDE_REDEEMS = { ...REDEEMS, max: 30 * WIDE_FACTOR, refill: 30 * WIDE_FACTOR }

/** A challenge is given again while there is so much time left to answer it. */
const REISSUE_MS = CHALLENGE_MS - 60_000

/** Asks, and gives passes: nothing is stored until a challenge is answered (D432). */
export function createChallenges(options: ChallengesOptions): Challenges {
  const { secrets, counts, clock, random, ipv6Prefix, onFault } = options
  const [maker] = secrets as readonly [ChallengeSecret, ...ChallengeSecret[]]
  const reader = createChallengeReader(options)
  const give = createPassGiver(options)
  const tags = createRuleTags(options.rules)
  const asking = createAsking(options.provider)
  const bound = createAskingBound(ipv6Prefix)

  /** Why an answer is not the right one; `undefined`: it is. */
  async function faultOf(
    challenge: OpenedChallenge,
    answer: string,
    address: string,
  ): Promise<RedeemFault | undefined> {
    if (!isOfWidget(challenge)) {
      const numbers = numbersOf(answer)
      if (numbers === undefined) return 'malformed'
      return isSolved(challenge, numbers) ? undefined : 'wrong'
    }
    const checked = await asking.check(answer, address, clock.now())
    return checked === 'right' ? undefined : checked
  }

  function redeemed(given: Given | { readonly refused: RedeemFault }, { level, rule }: OpenedChallenge): Redeemed {
    const asked = tags.ruleOf(rule)
    if ('refused' in given) return { refused: given.refused, level, rule: asked }
    const { pass, maxAge, seconds, degraded } = given
    return { pass, level, maxAge, seconds, rule: asked, degraded }
  }

  /** Counts a try of a client: without this one that waits for a thousand questions at a time would have a thousand passes. */
  async function mayTry({ address }: Redeemer): Promise<boolean> {
    const { states } = await counts.take(redeemTasks(address, ipv6Prefix), '')
    return states.every(({ allowed }) => allowed)
  }

  /** All that is unforeseen is a refusal. */
  async function safely(redeem: () => Promise<Redeemed>): Promise<Redeemed> {
    try {
      return await redeem()
    } catch (error) {
      onFault?.(error)
      return { refused: 'failed' }
    }
  }

  return {
    admits: ({ address }) => bound(address, clock.now()),
    passOf: createPassReader(secrets, createPassNetworks(counts, onFault)),
    issue(request, asked, fresh = false) {
      const now = clock.now()
      const brought = fresh ? undefined : reader.broughtBy(request, asked, now)
      if (brought !== undefined && now - brought.challenge.issuedAt < REISSUE_MS) {
        return issued(brought.text, brought.challenge, Math.max(1, Math.ceil(brought.left / 1000)), true)
      }
      const { level, passMs, script } = asked.terms
      const { host, browser, tls } = askerOf(askerPartsOf(request))
      const widget = asking.widgetAt(level, now)
      const { puzzles, bits, wait } = widget === undefined ? WORK[level] : WIDGET_WORK
      const isInstead = widget === undefined && asking.isProvided(level)
      const challenge = {
        issuedAt: now,
        level,
        puzzles,
        bits,
        // A provider that could be waited for instead would ask nobody.
        wait: script || isInstead ? 0 : wait,
        passSeconds: Math.min(Math.ceil(passMs / 1000), isInstead ? DEGRADED_PASS_SECONDS : Number.POSITIVE_INFINITY),
        browser,
        tls,
        rule: tags.tagOf(asked.rule),
        random: random(RANDOM_BYTES),
      }
      return { ...issued(sealChallenge(challenge, maker, host), challenge, challenge.wait, false), widget }
    },
    hasWaited(request, asked) {
      const brought = reader.broughtBy(request, asked, clock.now())
      return brought !== undefined && brought.left <= 0
    },
    redeemWaited: (request, asked, client) =>
      safely(async () => {
        const brought = reader.broughtBy(request, asked, clock.now())
        if (brought === undefined || brought.left > 0) return { refused: 'early' }
        if (!(await mayTry(client))) return redeemed({ refused: 'too_many' }, brought.challenge)
        const given = await give(brought.challenge, askerOf(askerPartsOf(request)), client, { waited: true })
        return redeemed(given, brought.challenge)
      }),
    redeem: (request, solution, client) =>
      safely(async () => {
        const dot = solution.indexOf('.')
        if (dot === -1) return { refused: 'malformed' }
        const asker = askerOf(askerPartsOf(request))
        // Cheaper than to count who tries.
        const challenge = reader.read(solution.slice(0, dot), asker, clock.now())
        if (typeof challenge === 'string') return { refused: challenge }
        if (!(await mayTry(client))) return redeemed({ refused: 'too_many' }, challenge)
        const answer = solution.slice(dot + 1)
        const refused = await faultOf(challenge, answer, client.address)
        if (refused !== undefined) return redeemed({ refused }, challenge)
        const token = isOfWidget(challenge) ? answer : undefined
        return redeemed(await give(challenge, asker, client, { waited: false, token }), challenge)
      }),
  }
}

function issued(
  text: string,
  { level, puzzles, bits }: Pick<Challenge, 'level' | 'puzzles' | 'bits'>,
  wait: number,
  again: boolean,
): IssuedChallenge {
  return { text, level, puzzles, bits, wait, again }
}

const NUMBERS = /^\d{1,10}(?:,\d{1,10}){0,63}$/

function numbersOf(text: string): readonly number[] | undefined {
  if (text.length > MAX_NUMBERS || !NUMBERS.test(text)) return undefined
  return text.split(',').map(Number)
}

function redeemTasks(address: string, ipv6Prefix: number): readonly CountTask[] {
  const { narrow, wide } = clientKey(address, ipv6Prefix)
  const task = { key: `challenge client ${narrow}`, cost: 1, limit: REDEEMS, max: REDEEMS.max, binding: true }
  if (wide === undefined) return [task]
  return [task, { key: `challenge client ${wide}`, cost: 1, limit: WIDE_REDEEMS, max: WIDE_REDEEMS.max, binding: true }]
}
