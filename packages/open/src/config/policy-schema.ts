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

const Strings = z.array(z.string())

/** 0 to 1. */
const Share = z.number().min(0).max(1)

const Match = z
  .strictObject({
    networkClass: z.array(z.enum(NETWORK_CLASSES)).describe('classes of networks'),
    country: Strings.describe('two-letter codes of the country the client is in; unknown where that is not known'),
    asn: z.array(z.int().nonnegative()).describe('numbers of autonomous systems'),
    provider: Strings.describe('brands of VPN, proxy, Tor, hosting and cloud services, as iCloud Private Relay'),
    path: Strings.describe('/login is that path alone, /admin/** it and all below, * any characters of a segment'),
    method: Strings.describe('methods'),
    header: z
      .strictObject({
        present: Strings.describe('names of headers, all of which are there'),
        absent: Strings.describe('names of headers, none of which is there'),
      })
      .partial()
      .describe('names of headers'),
    time: z
      .strictObject({
        from: z.string().describe('HH:MM'),
        to: z.string().describe('HH:MM, which may be the next morning'),
        days: z.array(z.enum(DAYS)).describe('days on which the span begins; absent: every day'),
        zone: z.string().describe('IANA name of a zone; absent: UTC'),
      })
      .partial()
      .describe('hours of days'),
    class: z.array(z.enum(AGENT_CLASSES)).describe('who asks'),
    basis: z.array(z.enum(AGENT_BASES)).describe('what the verdict about who asks rests on'),
    headless: z.boolean().describe('whether it is a browser without a person in front of it, as far as it says so'),
    confidence: z
      .strictObject({ atLeast: Share.describe('0 to 1'), atMost: Share.describe('0 to 1') })
      .partial()
      .describe('how sure the verdict about who asks is'),
    networkConfidence: z
      .strictObject({ atLeast: Share.describe('0 to 1'), atMost: Share.describe('0 to 1') })
      .partial()
      .describe('how sure the verdict about the network is'),
    identity: Strings.describe('proven identities: slugs, identifiers of signature agents, or * for any'),
    vendor: Strings.describe('whose AI it is, as verdicts show it'),
    crawler: Strings.describe('slugs of the catalogue of crawlers'),
    crawlerOutcome: z.array(z.enum(CRAWLER_OUTCOMES)).describe('what came of the claim to be a crawler'),
    operator: Strings.describe('operators of the catalogue of crawlers'),
    purpose: z.array(z.enum(CRAWLER_PURPOSES)).describe('what a crawler fetches pages for'),
    user: Strings.describe('ids that the application gave its users, as identify of an adapter says; * for any'),
    plan: Strings.describe('plans of those users; * for any'),
  })
  .partial()

/** A length of time; what it may be is checked with the rest of the policy. */
const Duration = z.union([z.string(), z.number()])

const Keys = z.union([z.enum(COUNT_KEYS), z.array(z.enum(COUNT_KEYS))])

const RuleLimit = z.strictObject({
  key: Keys.describe('what is counted apart; several together are one key'),
  max: z.int().describe('requests that fit into a window'),
  window: Duration.describe('as 1s, 5m, 1h or 1d; a number is milliseconds'),
  kind: z.enum(COUNT_KINDS).optional().describe('absent: sliding'),
  refill: z.int().optional().describe('of a bucket: what flows back in a window; absent: max'),
  burst: z.int().optional().describe('of a bucket: what fits at once; absent: max'),
})

const Strikes = z.strictObject({
  key: z.enum(STRIKE_KEYS).optional().describe('client: by browser where many share an address; address: whole; user'),
  count: z.int().describe('strikes within the window that ban'),
  window: Duration.describe('as 10m'),
  on: Strings.describe('flagged, throttled, blocked, and status:401 for a status of the origin'),
  for: Duration.describe('how long a ban is, as 1h'),
})

const Rule = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be lower-case letters, digits, - and _')
    .describe('the name of the rule, in logs and reasons'),
  match: Match.describe('what it looks at: members are joined by "and", the values of one member by "or"'),
  action: z.enum(ACTIONS).describe('what it does where it matches'),
  monitor: z.boolean().optional().describe('on trial: what it would do is recorded, and the rules after it decide'),
  onError: z.enum(PLAIN_ACTIONS).optional().describe('the action where the data that it asks about is not loaded'),
  limit: RuleLimit.optional().describe('how many requests fit into how long; beyond it the action is done'),
  concurrent: z
    .union([z.int(), z.strictObject({ key: Keys, max: z.int() })])
    .optional()
    .describe('requests in flight at one time, of all together or of each key'),
  cost: z
    .union([z.number(), z.record(z.string(), z.number())])
    .optional()
    .describe('what a request counts; or by method or path, the first that fits, else 1'),
  then: z.literal('allow').optional().describe('within its limits it allows, and no rule after it is asked'),
})

/** The policy: the user's rules, then the preset's, then the default. */
export const PolicySchema = z.strictObject({
  preset: z.enum(PRESET_NAMES).default('low-friction').describe('the rules that come after those below'),
  rules: z.array(Rule).default([]).describe('the first that matches decides; then the preset; then the default'),
  limits: z.array(z.enum(LIMIT_PRESET_NAMES)).optional().describe('rules that count, after the rules above'),
  strikes: Strikes.optional().describe('clients that are refused for a while, for what they did before'),
  default: z.enum(PLAIN_ACTIONS).optional().describe('the action where no rule matches; absent: allow'),
  onError: z.enum(PLAIN_ACTIONS).optional().describe('the action when the inspection itself fails; absent: allow'),
  allowlist: Strings.optional().describe('CIDRs and addresses that are allowed before any rule'),
})

/** What may be said of one mount, or of one route: addresses and strikes are those of all. */
export const MountPolicySchema = PolicySchema.omit({ allowlist: true, strikes: true })
