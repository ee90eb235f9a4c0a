import {
  ACTIONS,
  CHALLENGE_LEVELS,
  COUNT_KEYS,
  COUNT_KINDS,
  COUNTED_ANSWERS,
  LIMIT_PRESET_NAMES,
  PLAIN_ACTIONS,
  PRESET_NAMES,
  STRIKE_KEYS,
  STRIKES_ACTIONS,
} from '@sallyport/core'
import { z } from 'zod'
import { key } from './key.ts'
import { MatchSchema } from './match-schema.ts'

const Strings = z.array(z.string())

/** A length of time; what it may be is checked with the rest of the policy. */
const Duration = z.union([z.string(), z.number()])
const TIME = { unit: 'time' }
const REQUESTS = { unit: 'requests' }

const Keys = z.union([z.enum(COUNT_KEYS), z.array(z.enum(COUNT_KEYS))])

const Failures = z.array(z.int())

const RuleLimit = z.strictObject({
  key: key(Keys, 'Key of the count, or several', 'client'),
  max: key(z.int(), 'Requests, failures or pages that fit into a window', 60, REQUESTS),
  window: key(Duration, 'Length of a window; a number is milliseconds', '1m', TIME),
  count: key(
    z.enum(COUNTED_ANSWERS).optional(),
    'Counted requests: failure: by the status of the answer; page: answered with 2xx and HTML or Markdown; absent: every request',
    'failure',
  ),
  failures: key(
    Failures.optional(),
    'Statuses that are a failure, with count: failure; absent: those of policy.failures',
    [200, 401],
  ),
  kind: key(
    z.enum(COUNT_KINDS).optional(),
    'Kind of count: two weighted windows, one exact window, or a bucket; absent: sliding',
    'bucket',
  ),
  refill: key(z.int().optional(), 'Requests that a bucket regains in a window; absent: max', 30, REQUESTS),
  burst: key(z.int().optional(), 'Requests that a bucket holds; absent: max', 20, REQUESTS),
})

const Strikes = z.strictObject({
  key: key(
    z.enum(STRIKE_KEYS).optional(),
    'Key of strikes; client: one browser where many share an address; address; user; absent: client',
    'address',
  ),
  count: key(z.int(), 'Strikes within the window that ban', 5, { unit: 'strikes' }),
  window: key(Duration, 'Time in which strikes count; a number is milliseconds', '10m', TIME),
  on: key(
    Strings,
    'Strikes: flagged, throttled, blocked, decoy, challenge_failed, and status:401 for a status of the origin',
    ['blocked', 'status:401'],
  ),
  then: key(
    z.enum(STRIKES_ACTIONS).optional(),
    'Action for a banned client; challenge: a pass lifts the ban; absent: block',
    'challenge',
  ),
  for: key(Duration, 'Length of a ban', '1h', TIME),
})

const Rule = z.strictObject({
  id: key(
    z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be lower-case letters, digits, - and _'),
    'Name of the rule, in logs and reasons',
    'no-tor',
  ),
  match: MatchSchema.describe('Tests of the rule: members are joined by "and", the values of one member by "or"'),
  action: key(z.enum(ACTIONS), 'Action if the rule matches', 'throttle'),
  monitor: key(
    z.boolean().optional(),
    'Whether the rule is a dry run: its action is recorded, and the rules after it decide; absent: false',
    true,
  ),
  onError: key(
    z.enum(PLAIN_ACTIONS).optional(),
    'Action if the data that the rule asks about is not loaded; absent: it does not match',
    'flag',
  ),
  limit: RuleLimit.optional().describe('Requests that fit into a time; beyond it the action is taken'),
  concurrent: key(
    z.union([z.int(), z.strictObject({ key: Keys, max: z.int() })]).optional(),
    'Requests in flight at one time, of all together or of each key; absent: any number',
    { key: 'client', max: 4 },
    REQUESTS,
  ),
  cost: key(
    z.union([z.number(), z.record(z.string(), z.number())]).optional(),
    'Cost of a request, or costs by method or path, the first that fits; absent: 1',
    { '/report': 10 },
    REQUESTS,
  ),
  challenge: z
    .strictObject({
      level: key(
        z.literal(CHALLENGE_LEVELS).optional(),
        'Level: 1 a wait, 2 work, 3 four times that work; absent: 1',
        2,
        {
          unit: 'level',
        },
      ),
      pass: key(Duration.optional(), 'Time that the pass holds; a number is milliseconds; absent: 12h', '2h', TIME),
      script: key(
        z.literal('required').optional(),
        'Whether only clients that run script get a pass; absent: without script the wait is longer',
        'required',
      ),
    })
    .optional()
    .describe('Level, pass and script of the challenge'),
  to: key(
    z.string().max(2_000).optional(),
    'Target of a redirect, for proven crawlers: a path, or an http URL; {path} is the path of the request; absent: for other actions',
    '/llms.txt',
  ),
  weight: key(
    z.number().optional(),
    'Weight that the rule adds for match.weight of the rules after it, which decide; absent: the rule decides',
    3,
    { unit: 'points' },
  ),
  trustClaim: key(
    z.boolean().optional(),
    'Whether the rule may allow by unproven claims of the client; absent: false',
    true,
  ),
  then: key(
    z.literal('allow').optional(),
    'Effect within the limit: allow, and no rule after it decides; absent: the rules after it decide',
    'allow',
  ),
})

/** The policy: the user's rules, then the preset's, then the default. */
export const PolicySchema = z.strictObject({
  preset: key(
    z.enum(PRESET_NAMES).default('low-friction'),
    'Rules that come after those of `rules`',
    'protect-content',
  ),
  rules: z
    .array(Rule)
    .default([])
    .describe('Rules, of which the first that matches decides; then the preset; then the default'),
  limits: key(
    z.array(z.enum(LIMIT_PRESET_NAMES)).optional(),
    'Rules that count, after those of `rules`; absent: none',
    ['polite-crawlers'],
  ),
  failures: key(
    Failures.optional(),
    'Statuses that are a failure for limits with count: failure, such as those of login-guard; absent: 401, 403 and 422',
    [401, 403, 422, 429],
  ),
  strikes: Strikes.optional().describe('Bans of clients that repeat a wrong'),
  default: key(z.enum(PLAIN_ACTIONS).optional(), 'Action if no rule matches; absent: allow', 'flag'),
  onError: key(z.enum(PLAIN_ACTIONS).optional(), 'Action if the inspection itself fails; absent: allow', 'block'),
  allowlist: key(Strings.optional(), 'CIDRs and addresses that are allowed before any rule; absent: none', [
    '198.51.100.0/24',
  ]),
})

/** Policy of one mount or one route: addresses and bans are those of all. */
export const MountPolicySchema = PolicySchema.omit({ allowlist: true, strikes: true }).refine(
  ({ limits = [] }) => !limits.includes('scanner-guard'),
  { path: ['limits'], error: 'scanner-guard bans, and bans are those of all: name it in policy.limits' },
)
