import { type Counts, type CountTask, makeFixedTask } from '../counting/ports.ts'
import type { BoundClient, Redeemer, RedeemFault } from '../values/challenge.ts'
import type { InspectionRequest } from '../values/request.ts'
import { describeAsker, readAskerParts } from './asker.ts'
import { challengeBuckets, shareAround } from './asking-bound.ts'
import { createPassGiver, type Given } from './giver.ts'
import type { ChallengeParts } from './issuer.ts'
import { isTokenText } from './provider.ts'
import type { Brought } from './reader.ts'
import type { AskedFor, ChallengesOptions, Redeemed } from './terms.ts'
import { CHALLENGE_MS, type OpenedChallenge } from './token.ts'
import { areNumbers, isOfWidget, isSolved } from './work.ts'

/** Limits the solutions of one challenge that are checked: the page sends one six times where a server sheds. */
const MAX_TRIES = 6

/** Limits the passes of a client in a minute. People share addresses, known or not: an office, a school, an exit of a VPN. */
const MAX_PASSES = 120

export function createRedeeming(options: ChallengesOptions, { reader, asking, tags }: ChallengeParts) {
  const { counts, clock, onFault } = options
  const give = createPassGiver(options)

  function nameRule(given: Given | { readonly refused: RedeemFault }, { level, rule }: OpenedChallenge): Redeemed {
    return { ...given, level, rule: tags.findRule(rule) }
  }

  function waitFault({ issuedAt, wait }: OpenedChallenge): 'early' | undefined {
    return clock.now() < issuedAt + wait * 1000 ? 'early' : undefined
  }

  /** Returns why a solution does not solve its challenge, or `undefined`. An unreadable solution is not counted as a try. */
  async function solutionFault(challenge: OpenedChallenge, text: string, client: BoundClient) {
    const isToken = isOfWidget(challenge)
    if (!(isToken ? isTokenText(text) : areNumbers(text))) return 'malformed'
    if (!(await mayTry(challenge, counts))) return 'spent'
    if (!isToken) return isSolved(challenge, text.split(',').map(Number)) ? undefined : 'wrong'
    const checked = await asking.check(text, client, clock.now())
    return checked === 'right' ? undefined : checked
  }

  async function redeemWaited(request: InspectionRequest, asked: AskedFor, client: Redeemer): Promise<Redeemed> {
    const [first, ...others] = reader.broughtBy(request, asked, clock.now()).filter(({ left }) => left <= 0)
    if (first === undefined) return { refused: 'early' }
    if (!(await mayPass(client, counts))) return nameRule({ refused: 'too_many' }, first.challenge)
    const asker = describeAsker(readAskerParts(request))
    const attempt = async ({ challenge }: Brought) =>
      nameRule(await give(challenge, asker, client, { waited: true }), challenge)
    let tried = await attempt(first)
    // A spent challenge, which a neighbour may have set, does not keep others back.
    for (const other of others) if ('refused' in tried) tried = await attempt(other)
    return tried
  }

  async function redeem(request: InspectionRequest, solution: string, client: Redeemer): Promise<Redeemed> {
    const dot = solution.indexOf('.')
    if (dot === -1) return { refused: 'malformed' }
    const asker = describeAsker(readAskerParts(request))
    const challenge = reader.read(solution.slice(0, dot), asker, clock.now())
    if (typeof challenge === 'string') return { refused: challenge }
    const text = solution.slice(dot + 1)
    const waited = text === '' && challenge.wait > 0
    const refused = waited ? waitFault(challenge) : await solutionFault(challenge, text, client)
    if (refused !== undefined) return nameRule({ refused }, challenge)
    if (!(await mayPass(client, counts))) return nameRule({ refused: 'too_many' }, challenge)
    const token = isOfWidget(challenge) ? text : undefined
    return nameRule(await give(challenge, asker, client, { waited, token }), challenge)
  }

  /** Turns every unforeseen error into a refusal. */
  const safely = (redeeming: Promise<Redeemed>): Promise<Redeemed> =>
    redeeming.catch((error: unknown) => {
      onFault?.(error)
      return { refused: 'failed' }
    })

  return {
    /** Gives a pass for the challenge that a request waited for. Never rejects. */
    redeemWaited: (...of: Parameters<typeof redeemWaited>) => safely(redeemWaited(...of)),
    /**
     * Gives a pass for the solution in `SOLUTION_FIELD`: the challenge, a dot, and its numbers with commas between, or the token of the
     * provider, or nothing once the wait is over. Never rejects.
     */
    redeem: (...of: Parameters<typeof redeem>) => safely(redeem(...of)),
  }
}

/** Counts a try of a challenge. A wrong solution uses up only its challenge, and nothing of other visitors behind the address. */
async function mayTry({ random }: OpenedChallenge, counts: Counts): Promise<boolean> {
  const key = `challenge tries ${Buffer.from(random).toString('base64url')}`
  const { states } = await counts.take([makeFixedTask(key, MAX_TRIES, 2 * CHALLENGE_MS)], '')
  return states[0]?.allowed === true
}

/** Counts a pass, and reports whether the client gets it: else waiting for many challenges at a time would earn as many passes. */
async function mayPass(client: BoundClient, counts: Counts): Promise<boolean> {
  const [own, ...around] = challengeBuckets(client)
  const [state] = (await counts.take([passTask(own.key, MAX_PASSES)], '')).states
  if (state?.allowed !== true) return false
  const share = shareAround(state.used / MAX_PASSES)
  const tasks = around.map(({ key, factor }) => passTask(key, MAX_PASSES * factor * share))
  return tasks.length === 0 || (await counts.take(tasks, '')).states.every(({ allowed }) => allowed)
}

function passTask(key: string, most: number): CountTask {
  const max = Math.floor(most)
  const limit = { kind: 'sliding', max, windowMs: 60_000, refill: max } as const
  return { key: `challenge passes ${key}`, cost: 1, limit, max, binding: true }
}
