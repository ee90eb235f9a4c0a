import { randomBytes } from 'node:crypto'
import {
  type Challenges,
  type Clock,
  type Counts,
  createChallengeSecrets,
  createChallenges,
  type InspectionRequest,
  rulesInForce,
} from '@sallyport/core'
import type { Settings } from '#settings'
import { callCountsUrl } from '../counting.ts'
import type { OpenHooks } from '../hooks.ts'
import type { Outbound } from '../outbound.ts'
import { createRandom } from './random-bytes.ts'
import { secretOf } from './secret-file.ts'
import { createSiteverify } from './siteverify.ts'

export interface ChallengeParts {
  readonly clock: Clock
  readonly counts: Counts
  /** Asks the provider of the configuration. */
  readonly outbound: Pick<Outbound, 'feeds'>
  readonly hooks: Pick<OpenHooks, 'challengeProvider'>
  readonly onFault: (error: unknown) => void
  /** The host of the configuration in force. */
  readonly host: () => {
    readonly config: Settings
    namedScheme(request: InspectionRequest): 'http' | 'https' | undefined
  }
}

/** Questions and passes of a configuration: with its secrets, else with one of the dataDir, else with one of this process. */
export function openChallenges(config: Settings, parts: ChallengeParts): Challenges {
  const { clock, counts, outbound, hooks, onFault, host } = parts
  const { secret, previousSecret, provider: named } = config.challenge
  const made = config.data.readOnly ? randomBytes(32).toString('base64url') : secretOf(config.dataDir)
  const secrets = [secret ?? made, ...(previousSecret === undefined ? [] : [previousSecret])]
  return createChallenges({
    secrets: createChallengeSecrets(secrets),
    counts,
    clock,
    random: createRandom(),
    ipv6Prefix: config.limits.ipv6Prefix,
    rules: () => rulesInForce(host().config.policy).map(({ id }) => id),
    isSecure: (request) => (host().namedScheme(request) ?? request.scheme) === 'https',
    provider: hooks.challengeProvider ?? (named && createSiteverify(named, outbound.feeds, onFault)),
    // Counts in memory forget at a restart which challenges were spent.
    since: callCountsUrl(config) === undefined ? clock.now() : 0,
    onFault,
  })
}
