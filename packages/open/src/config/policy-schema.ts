import {
  ACTIONS,
  AGENT_BASES,
  AGENT_CLASSES,
  COUNT_KEYS,
  COUNT_KINDS,
  CRAWLER_OUTCOMES,
  CRAWLER_PURPOSES,
  DAYS,
  LIMIT_PRESET_NAMES,
  NETWORK_CLASSES,
  PLAIN_ACTIONS,
  PRESET_NAMES,
  STRIKE_KEYS,
} from '@sallyport/core'
import { z } from 'zod'
import { key } from './key.ts'

const Strings = z.array(z.string())

/** 0 to 1. */
const Share = z.number().min(0).max(1)
const SHARE = { unit: 'share' }

/** A member of `match`: absent, it matches anything. */
function member<Schema extends z.ZodType>(schema: Schema, description: string, example: z.input<Schema>): Schema {
  return key(schema, `${description}; absent: any`, example)
}

const Confidence = z
  .strictObject({
    atLeast: key(Share, 'so sure or surer; absent: 0', 0.61, SHARE),
    atMost: key(Share, 'so sure or less; absent: 1', 0.9, SHARE),
  })
  .partial()

const Match = z
  .strictObject({
    networkClass: member(z.array(z.enum(NETWORK_CLASSES)), 'classes of networks', ['tor', 'vpn']),
    country: member(Strings, 'two-letter codes of the country the client is in; unknown where that is not known', [
      'DE',
      'AT',
    ]),
    asn: member(z.array(z.int().nonnegative()), 'numbers of autonomous systems', [64_500]),
    provider: member(Strings, 'brands of VPN, proxy, Tor, hosting and cloud services', ['iCloud Private Relay']),
    path: member(Strings, '/login is that path alone, /admin/** it and all below, * any characters of a segment', [
      '/login',
      '/admin/**',
    ]),
    method: member(Strings, 'methods', ['POST']),
    header: z
      .strictObject({
        present: member(Strings, 'names of headers, all of which are there', ['cookie']),
        absent: member(Strings, 'names of headers, none of which is there', ['accept-language']),
      })
      .partial()
      .describe('names of headers'),
    time: z
      .strictObject({
        from: key(z.string(), 'HH:MM; absent: 00:00', '22:00'),
        to: key(z.string(), 'HH:MM, which may be the next morning; absent: 24:00', '06:00'),
        days: key(z.array(z.enum(DAYS)), 'days on which the span begins; absent: every day', ['fri', 'sat']),
        zone: key(z.string(), 'IANA name of a zone; absent: UTC', 'Europe/Berlin'),
      })
      .partial()
      .describe('hours of days'),
    class: member(z.array(z.enum(AGENT_CLASSES)), 'who asks', ['impostor']),
    basis: member(z.array(z.enum(AGENT_BASES)), 'what the verdict about who asks rests on', ['contradiction']),
    headless: member(
      z.boolean(),
      'whether it is a browser without a person in front of it, as far as it says so',
      true,
    ),
    confidence: Confidence.describe('how sure the verdict about who asks is'),
    networkConfidence: Confidence.describe('how sure the verdict about the network is'),
    identity: member(Strings, 'proven identities: slugs, identifiers of signature agents, or * for any', [
      'https://chatgpt.com',
    ]),
    vendor: member(Strings, 'whose AI it is, as verdicts show it', ['OpenAI']),
    crawler: member(Strings, 'slugs of the catalogue of crawlers', ['googlebot']),
    crawlerOutcome: member(z.array(z.enum(CRAWLER_OUTCOMES)), 'what came of the claim to be a crawler', ['spoofed']),
    operator: member(Strings, 'operators of the catalogue of crawlers', ['Google']),
    purpose: member(z.array(z.enum(CRAWLER_PURPOSES)), 'what a crawler fetches pages for', ['training']),
    user: member(Strings, 'ids that the application gave its users, as identify of an adapter says; * for any', [
      '4711',
    ]),
    plan: member(Strings, 'plans of those users; * for any', ['free']),
  })
  .partial()

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
  match: Match.describe('what it looks at: members are joined by "and", the values of one member by "or"'),
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

/** What may be said of one mount, or of one route: addresses and strikes are those of all. */
export const MountPolicySchema = PolicySchema.omit({ allowlist: true, strikes: true })
