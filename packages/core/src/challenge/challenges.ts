import type { BoundClient, InspectedPass } from '../values/challenge.ts'
import type { InspectionRequest } from '../values/request.ts'
import { createAskingBound } from './asking-bound.ts'
import { createFormTokens } from './form-tokens.ts'
import { createIssuer } from './issuer.ts'
import { createPasses } from './pass.ts'
import { createPassNetworks } from './pass-networks.ts'
import { createAsking } from './provider.ts'
import { createChallengeReader } from './reader.ts'
import { createRedeeming } from './redeeming.ts'
import { createRuleTags } from './rule-tags.ts'
import type { AskedFor, ChallengesOptions } from './terms.ts'

export type Challenges = ReturnType<typeof createChallenges>

/** Issues challenges and gives passes. Nothing is stored until a challenge is solved, because a flood would fill the store. */
export function createChallenges(options: ChallengesOptions) {
  const { secrets, counts, clock, onFault } = options
  const parts = {
    reader: createChallengeReader(options),
    asking: createAsking(options.provider),
    tags: createRuleTags(options.rules),
  }
  const passes = createPasses(secrets, createPassNetworks(counts, onFault), options.isSecure)
  const bound = createAskingBound()
  return {
    /** Counts a client that is to get a challenge or brings a solution; false beyond its bound. Excess clients must cost nothing. */
    admits: (client: BoundClient) => bound(client, clock.now()),
    findPass: passes.findPass,
    /** Renews the pass of a request for its full lifetime; returns `undefined` where that is not due. */
    renew: (pass: InspectedPass, request: InspectionRequest) => passes.renew(pass, request, clock.now()),
    issue: createIssuer(options, parts),
    forms: createFormTokens(options, parts.reader),
    /** Reports whether a request brings a challenge of such terms after its wait, so that it can be redeemed. */
    hasWaited(request: InspectionRequest, asked: AskedFor): boolean {
      const [brought] = parts.reader.broughtBy(request, asked, clock.now())
      return brought !== undefined && brought.left <= 0
    },
    ...createRedeeming(options, parts),
  }
}
