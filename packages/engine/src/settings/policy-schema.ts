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
  UNKNOWN_REGIONS,
} from '@sallyport/core'
import { z } from 'zod'
import { key } from './key.ts'
import { MatchSchema } from './match-schema.ts'

const Strings = z.array(z.string())

/** A length of time; its bounds are checked with the rest of the policy. */
const Duration = z.union([z.string(), z.number()])
const TIME = { unit: 'time' }
const REQUESTS = { unit: 'requests' }

const Keys = z.union([z.enum(COUNT_KEYS), z.array(z.enum(COUNT_KEYS))])

const Failures = z.array(z.int())

const RuleLimit = z.strictObject({
  key: key(Keys, 'Key or keys to count by', 'client'),
  max: key(z.int(), 'Requests, failures or pages allowed per window', 60, REQUESTS),
  window: key(Duration, 'Length of the window', '1m', TIME),
  count: key(
    z.enum(COUNTED_ANSWERS).optional(),
    'What is counted: failures by response status, or pages (2xx with HTML or Markdown); absent: every request',
    'failure',
  ),
  failures: key(Failures.optional(), 'Response statuses that count as failures; absent: policy.failures', [200, 401]),
  share: key(z.number().optional(), 'Share of events that may fail uncounted; absent: 0', 0.5, { unit: 'share' }),
  kind: key(
    z.enum(COUNT_KINDS).optional(),
    'Algorithm: two weighted windows, a fixed window, or a token bucket refilled at max; absent: sliding',
    'bucket',
  ),
  burst: key(z.int().optional(), 'Capacity of the bucket; absent: max', 20, REQUESTS),
})

const Strikes = z.strictObject({
  key: key(
    z.enum(STRIKE_KEYS).optional(),
    'Key of strikes; client: one browser behind a shared address; absent: client',
    'address',
  ),
  count: key(z.int(), 'Strikes that cause a ban', 5, { unit: 'strikes' }),
  window: key(Duration, 'Time in which strikes count', '10m', TIME),
  on: key(
    Strings,
    "Events that are strikes: flagged, throttled, blocked, decoy, challenge_failed, or an origin's status, as status:401",
    ['blocked', 'status:401'],
  ),
  then: key(
    z.enum(STRIKES_ACTIONS).optional(),
    'Action for banned clients; challenge: a pass lifts the ban; absent: block',
    'challenge',
  ),
  for: key(Duration, 'Duration of the ban', '1h', TIME),
})

const Offer = z.strictObject({
  price: key(z.string(), 'Currency and amount, as in `crawler-price`', 'USD 0.01'),
  licence: key(
    z.string().optional(),
    'URL of the licence that the payment buys; absent: none',
    'https://shop.example/licence.xml',
  ),
  x402: z
    .array(
      z.strictObject({
        network: key(z.string(), 'Network (CAIP-2)', 'eip155:8453'),
        asset: key(z.string(), 'Token address', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
        amount: key(z.string(), "Amount in the token's smallest unit", '10000'),
        payTo: key(z.string(), 'Recipient address', '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'),
        extra: key(z.record(z.string(), z.string()).optional(), 'Network-specific members; absent: none', {
          name: 'USD Coin',
          version: '2',
        }),
      }),
    )
    .optional()
    .describe('Accepted payments by x402 v2, scheme `exact`'),
})

const Rule = z.strictObject({
  id: key(
    z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be a name of lower-case letters, digits, - and _'),
    'Rule name, in logs and reasons',
    'no-tor',
  ),
  match: MatchSchema.describe('Conditions of the rule: members are joined by "and", the values of a member by "or"'),
  action: key(z.enum(ACTIONS), 'Action if the rule matches', 'throttle'),
  monitor: key(
    z.boolean().optional(),
    'Whether the rule is a dry run, which records the action and lets later rules decide; absent: false',
    true,
  ),
  onError: key(
    z.enum(PLAIN_ACTIONS).optional(),
    'Action if the data that the rule needs is not loaded; absent: no match',
    'flag',
  ),
  limit: RuleLimit.optional().describe('Rate limit; the action applies above it'),
  concurrent: key(
    z.union([z.int(), z.strictObject({ key: Keys, max: z.int() })]).optional(),
    'Requests in flight, in total or per key; absent: any number',
    { key: 'client', max: 4 },
    REQUESTS,
  ),
  cost: key(
    z.union([z.number(), z.record(z.string(), z.number())]).optional(),
    'Cost of a request, or costs by method or path, where the first match applies; absent: 1',
    { '/report': 10 },
    REQUESTS,
  ),
  challenge: z
    .strictObject({
      level: key(
        z.literal(CHALLENGE_LEVELS).optional(),
        'Level: 1 is a wait, 2 is proof of work, 3 is four times that work; absent: 1',
        2,
        {
          unit: 'level',
        },
      ),
      pass: key(Duration.optional(), 'Lifetime of the pass; absent: 12h', '2h', TIME),
      script: key(
        z.literal('required').optional(),
        'Whether a pass requires JavaScript; absent: a longer wait without it',
        'required',
      ),
    })
    .optional()
    .describe('Level, pass and script of the challenge'),
  to: key(
    z.string().max(2_000).optional(),
    'Redirect target for verified crawlers: a path or http URL; {path} is the request path; absent: none',
    '/llms.txt',
  ),
  offer: Offer.optional().describe('Price that a rule with the action offer asks'),
  weight: key(
    z.number().optional(),
    'Weight added to match.weight of later rules; this rule does not decide; absent: the rule decides',
    3,
    { unit: 'points' },
  ),
  trustClaim: key(z.boolean().optional(), 'Whether an allow rule may rely on unverified claims; absent: false', true),
  unknown: key(
    z.enum(UNKNOWN_REGIONS).optional(),
    'Effect if the region is unknown; absent: for rules without match.region',
    'ignore',
  ),
  status: key(z.literal(451).optional(), 'Status of a blocked response (RFC 7725); absent: 403', 451),
  then: key(
    z.literal('allow').optional(),
    'Effect within the limit: allow skips later rules; absent: later rules decide',
    'allow',
  ),
})

/** The user's rules come first, then the preset's, then the default. */
export const PolicySchema = z.strictObject({
  preset: key(z.enum(PRESET_NAMES).default('low-friction'), 'Preset, whose rules follow `rules`', 'protect-content'),
  rules: z
    .array(Rule)
    .default([])
    .describe('Rules in order; the first match decides, then the preset, then the default'),
  limits: key(z.array(z.enum(LIMIT_PRESET_NAMES)).optional(), 'Presets of rate limits, after `rules`; absent: none', [
    'polite-crawlers',
  ]),
  failures: key(
    Failures.optional(),
    'Statuses that count as failures, as in login-guard; absent: 401, 403 and 422',
    [401, 403, 422, 429],
  ),
  strikes: Strikes.optional().describe('Bans of repeat offenders'),
  default: key(z.enum(PLAIN_ACTIONS).optional(), 'Action if no rule matches; absent: allow', 'flag'),
  onError: key(z.enum(PLAIN_ACTIONS).optional(), 'Action if the inspection itself fails; absent: allow', 'block'),
  allowlist: key(Strings.optional(), 'CIDRs and addresses allowed before any rule; absent: none', ['198.51.100.0/24']),
})

/** Policy of one mount or one route: addresses and bans apply to the whole service. */
export const MountPolicySchema = PolicySchema.omit({ allowlist: true, strikes: true }).refine(
  ({ limits = [] }) => !limits.includes('scanner-guard'),
  { path: ['limits'], error: 'scanner-guard bans clients, and bans apply to all routes. Move it to policy.limits' },
)
