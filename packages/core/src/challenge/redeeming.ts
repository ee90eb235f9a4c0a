import { clientKey, WIDE_FACTOR } from '../counting/keys.ts'
import type { CountTask } from '../counting/ports.ts'
import type { RedeemFault } from '../values/challenge.ts'
import { askerOf, askerPartsOf } from './asker.ts'
import { createPassGiver, type Given } from './giver.ts'
import type { ChallengeParts } from './issuer.ts'
import { solutionFault } from './solutions.ts'
import type { ChallengesOptions, Redeemed, Redeeming } from './terms.ts'
import type { OpenedChallenge } from './token.ts'
import { isOfWidget } from './work.ts'

/** Solutions of a client that are checked in a minute, and challenges that it waited for. */
const TRIES = { kind: 'sliding', max: 30, windowMs: 60_000, refill: 30 } as const
const WIDE_TRIES = { ...TRIES, max: 30 * WIDE_FACTOR, refill: 30 * WIDE_FACTOR }

export function createRedeeming(options: ChallengesOptions, { reader, asking, tags }: ChallengeParts): Redeeming {
  const { counts, clock, ipv6Prefix, onFault } = options
  const give = createPassGiver(options)

  /** Counts a try, and says whether it is checked: who waits for a thousand challenges at a time would get a thousand passes. */
  async function mayTry(address: string): Promise<boolean> {
    const { narrow, wide } = clientKey(address, ipv6Prefix)
    const tasks = [taskOf(narrow, TRIES)]
    if (wide !== undefined) tasks.push(taskOf(wide, WIDE_TRIES))
    const { states } = await counts.take(tasks, '')
    return states.every(({ allowed }) => allowed)
  }

  function redeemed(given: Given | { readonly refused: RedeemFault }, { level, rule }: OpenedChallenge): Redeemed {
    const asked = tags.ruleOf(rule)
    if ('refused' in given) return { refused: given.refused, level, rule: asked }
    const { pass, maxAge, seconds, degraded } = given
    return { pass, level, maxAge, seconds, rule: asked, degraded }
  }

  const redeemWaited: Redeeming['redeemWaited'] = async (request, asked, client) => {
    const brought = reader.broughtBy(request, asked, clock.now())
    if (brought === undefined || brought.left > 0) return { refused: 'early' }
    const { challenge } = brought
    if (!(await mayTry(client.address))) return redeemed({ refused: 'too_many' }, challenge)
    return redeemed(await give(challenge, askerOf(askerPartsOf(request)), client, { waited: true }), challenge)
  }

  const redeem: Redeeming['redeem'] = async (request, solution, client) => {
    const { address } = client
    const dot = solution.indexOf('.')
    if (dot === -1) return { refused: 'malformed' }
    const asker = askerOf(askerPartsOf(request))
    // Cheaper than to count who tries.
    const challenge = reader.read(solution.slice(0, dot), asker, clock.now())
    if (typeof challenge === 'string') return { refused: challenge }
    if (!(await mayTry(address))) return redeemed({ refused: 'too_many' }, challenge)
    const text = solution.slice(dot + 1)
    if (text === '' && challenge.wait > 0) {
      const isEarly = clock.now() < challenge.issuedAt + challenge.wait * 1000
      const given = isEarly ? { refused: 'early' as const } : await give(challenge, asker, client, { waited: true })
      return redeemed(given, challenge)
    }
    const refused = await solutionFault(asking, challenge, { text, address }, clock.now())
    if (refused !== undefined) return redeemed({ refused }, challenge)
    const token = isOfWidget(challenge) ? text : undefined
    return redeemed(await give(challenge, asker, client, { waited: false, token }), challenge)
  }

  /** All that is unforeseen is a refusal. */
  async function safely(redeeming: Promise<Redeemed>): Promise<Redeemed> {
    try {
      return await redeeming
    } catch (error) {
      onFault?.(error)
      return { refused: 'failed' }
    }
  }

  return {
    redeemWaited: (...of) => safely(redeemWaited(...of)),
    redeem: (...of) => safely(redeem(...of)),
  }
}

function taskOf(key: string, limit: typeof TRIES | typeof WIDE_TRIES): CountTask {
  return { key: `challenge client ${key}`, cost: 1, limit, max: limit.max, binding: true }
}
