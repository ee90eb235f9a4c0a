import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Challenges,
  type Clock,
  type Counts,
  createChallengeSecrets,
  createChallenges,
  type InspectionRequest,
  rulesInForce,
} from '@sallyport/core'
import { makeSecret } from '#files'
import type { Metrics } from '#metrics'
import type { Settings } from '#settings'
import { callCountsUrl } from '../counting.ts'
import type { OpenHooks } from '../hooks.ts'
import type { Outbound } from '../outbound.ts'
import { createRandom } from './random-bytes.ts'
import { createSiteverify } from './siteverify.ts'

export interface ChallengeParts {
  readonly clock: Clock
  readonly counts: Counts
  /** Sends requests to the provider that the configuration names. */
  readonly outbound: Pick<Outbound, 'feeds'>
  readonly hooks: Pick<OpenHooks, 'challengeProvider'>
  readonly onFault: (error: unknown) => void
  readonly metrics: Pick<Metrics, 'add'>
  /** Returns the host of the configuration in force. */
  readonly host: () => {
    readonly config: Settings
    namedScheme(request: InspectionRequest): 'http' | 'https' | undefined
  }
}

/** Opens challenges and passes with the secrets of the configuration, else with that of the dataDir, else with one of this process. */
export function openChallenges(config: Settings, parts: ChallengeParts): Challenges {
  const { clock, counts, outbound, hooks, onFault, metrics, host } = parts
  const { secret, previousSecret, provider: named } = config.challenge
  const made = config.data.readOnly ? drawSecret() : keepSecret(config.dataDir)
  const secrets = [secret ?? made, ...(previousSecret === undefined ? [] : [previousSecret])]
  return createChallenges({
    secrets: createChallengeSecrets(secrets),
    counts,
    clock,
    random: createRandom(),
    rules: () => rulesInForce(host().config.policy).map(({ id }) => id),
    isSecure: (request) => (host().namedScheme(request) ?? request.scheme) === 'https',
    provider: hooks.challengeProvider ?? (named && createSiteverify(named, outbound.feeds, onFault)),
    // After a restart, counts in memory no longer know which challenges were spent.
    since: callCountsUrl(config) === undefined ? clock.now() : 0,
    onFormChecked: (action, outcome) => metrics.add('forms', [action, outcome]),
    isTesting: () => host().config.testing || host().config.demo,
    onFault,
  })
}

function drawSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the secret of a dataDir, which the processes on it share; the first of them makes it. */
function keepSecret(dataDir: string): string {
  const file = join(dataDir, 'challenge-secret')
  const read = () => readFileSync(file, 'utf8').trim()
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  makeSecret(file, `${drawSecret()}\n`)
  return read()
}
