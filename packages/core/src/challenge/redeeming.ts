import { clientKey, WIDE_FACTOR } from '../counting/keys.ts'
import type { CountTask } from '../counting/ports.ts'
import type { RedeemFault } from '../values/challenge.ts'
import { askerOf, askerPartsOf } from './asker.ts'
import { createPassGiver, type Given } from './giver.ts'
import type { ChallengeParts } from './issuer.ts'
import type { ChallengesOptions, Redeemed, Redeemer, Redeeming } from './terms.ts'
import type { OpenedChallenge } from './token.ts'
import { isOfWidget, isSolved } from './work.ts'

/** Characters of the numbers of a solution. */
const MAX_NUMBERS = 2_048

/** Answers of a client that are looked at in a minute: solutions, and questions that it waited for. */
const REDEEMS = { kind: 'sliding', max: 30, windowMs: 60_000, refill: 30 } as const
const WIDE_REDEEMS = { ...REDEEMS, max: 30 * WIDE_FACTOR, refill: 30 * WIDE_FACTOR }

export function createRedeeming(options: ChallengesOptions, { reader, asking, tags }: ChallengeParts): Redeeming {
  const { counts, clock, ipv6Prefix, onFault } = options
  const give = createPassGiver(options)

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
