import type { RedeemFault } from '../values/challenge.ts'
import { answerFault } from './answers.ts'
import { askerOf, askerPartsOf } from './asker.ts'
import { createPassGiver, type Given } from './giver.ts'
import type { ChallengeParts } from './issuer.ts'
import type { ChallengesOptions, Redeemed, Redeeming } from './terms.ts'
import type { OpenedChallenge } from './token.ts'
import { createTries } from './tries.ts'
import { isOfWidget } from './work.ts'

export function createRedeeming(options: ChallengesOptions, { reader, asking, tags }: ChallengeParts): Redeeming {
  const { counts, clock, ipv6Prefix, onFault } = options
  const give = createPassGiver(options)
  const mayTry = createTries(counts, ipv6Prefix)

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
    const refused = await answerFault(asking, challenge, { text, address }, clock.now())
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
