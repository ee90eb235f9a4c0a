import {
  ACTIONS,
  COUNT_KEYS,
  COUNT_KINDS,
  LIMIT_PRESET_NAMES,
  PLAIN_ACTIONS,
  PRESET_NAMES,
  STRIKE_KEYS,
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

const RuleLimit = z.strictObject({
  key: key(Keys, 'what is counted apart; several together are one key', 'client'),
  max: key(z.int(), 'that fit into a window', 60, REQUESTS),
  window: key(Duration, 'a number is milliseconds', '1m', TIME),
  kind: key(
    z.enum(COUNT_KINDS).optional(),
    'two weighted windows, one exact window, or a bucket; absent: sliding',
    'bucket',
  ),
  refill: key(z.int().optional(), 'of a bucket: what flows back in a window; absent: max', 30, REQUESTS),
  burst: key(z.int().optional(), 'of a bucket: what fits at once; absent: max', 20, REQUESTS),
})

const Strikes = z.strictObject({
  key: key(
    z.enum(STRIKE_KEYS).optional(),
    'client: by browser where many share an address; address: whole; user; absent: client',
    'address',
  ),
  count: key(z.int(), 'within the window that ban', 5, { unit: 'strikes' }),
  window: key(Duration, 'in which they count; a number is milliseconds', '10m', TIME),
  on: key(Strings, 'flagged, throttled, blocked, and status:401 for a status of the origin', ['blocked', 'status:401']),
  for: key(Duration, 'how long a ban is', '1h', TIME),
})

const Rule = z.strictObject({
  id: key(
    z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be lower-case letters, digits, - and _'),
    'the name of the rule, in logs and reasons',
    'no-tor',
  ),
  match: MatchSchema.describe('what it looks at: members are joined by "and", the values of one member by "or"'),
  action: key(z.enum(ACTIONS), 'what it does where it matches', 'throttle'),
  monitor: key(
    z.boolean().optional(),
    'on trial: what it would do is recorded, and the rules after it decide; absent: false',
    true,
  ),
  onError: key(
    z.enum(PLAIN_ACTIONS).optional(),
    'the action where the data that it asks about is not loaded; absent: it does not match',
    'flag',
  ),
  limit: RuleLimit.optional().describe('how many requests fit into how long; beyond it the action is done'),
  concurrent: key(
    z.union([z.int(), z.strictObject({ key: Keys, max: z.int() })]).optional(),
    'in flight at one time, of all together or of each key; absent: any number',
    { key: 'client', max: 4 },
    REQUESTS,
  ),
  cost: key(
    z.union([z.number(), z.record(z.string(), z.number())]).optional(),
    'what a request counts, or by method or path, the first that fits; absent: 1',
    { '/report': 10 },
    REQUESTS,
  ),
  then: key(
    z.literal('allow').optional(),
    'within its limits it allows, and no rule after it is asked; absent: they are asked',
    'allow',
  ),
})

/** The policy: the user's rules, then the preset's, then the default. */
export const PolicySchema = z.strictObject({
  preset: key(z.enum(PRESET_NAMES).default('low-friction'), 'the rules that come after those below', 'protect-content'),
  rules: z.array(Rule).default([]).describe('the first that matches decides; then the preset; then the default'),
  limits: key(z.array(z.enum(LIMIT_PRESET_NAMES)).optional(), 'rules that count, after the rules above; absent: none', [
    'polite-crawlers',
  ]),
  strikes: Strikes.optional().describe('clients that are refused for a while, for what they did before'),
  default: key(z.enum(PLAIN_ACTIONS).optional(), 'the action where no rule matches; absent: allow', 'flag'),
  onError: key(z.enum(PLAIN_ACTIONS).optional(), 'the action when the inspection itself fails; absent: allow', 'block'),
  allowlist: key(Strings.optional(), 'CIDRs and addresses that are allowed before any rule; absent: none', [
    '198.51.100.0/24',
  ]),
})

/** Policy of one mount or one route: addresses and strikes are those of all. */
export const MountPolicySchema = PolicySchema.omit({ allowlist: true, strikes: true })
