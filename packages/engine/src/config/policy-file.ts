import {
  ACCOUNT_EVENTS,
  ACTIONS,
  AGENT_CLASSES,
  CHALLENGE_LEVELS,
  EVENT_FACTS,
  EVENT_OUTCOMES,
  HTTP_VERSIONS,
  parseDuration,
} from '@sallyport/core'
import { z } from 'zod'
import { PolicySchema } from '#settings'
import { readFile } from './file.ts'
import { type Mapping, narrowToPolicy } from './layers.ts'
import { parseValues } from './parse.ts'
import type { Config } from './schema.ts'

const Pages = z.int().min(0)

const RequestMembers = z.strictObject({
  /** If absent, the address of the visitor applies. */
  ip: z.string().optional(),
  method: z.string().default('GET'),
  path: z.string().startsWith('/').default('/'),
  scheme: z.enum(['http', 'https', 'unknown']).default('unknown'),
  /** If absent, only the user agent is known. A list holds the values of a field that is sent several times. */
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
  userAgent: z.string().optional(),
  /** Names a visitor, whose headers come before the headers above. */
  as: z.string().optional(),
  /** Absent members are unknown, and the test does not judge rules that need them. */
  host: z.string().optional(),
  httpVersion: z.enum(HTTP_VERSIONS).optional(),
  ja4: z.string().optional(),
  load: z.number().nonnegative().optional(),
  /** Rules compare these counts with what the visitor did before. */
  behaviour: z
    .strictObject({ pagesWithoutFiles: Pages, cookiesNotReturned: Pages, differentPages: Pages })
    .partial()
    .optional(),
  /** Calls of an MCP client, as the log writes them: `tools/call search`. */
  mcp: z.array(z.string().min(1)).optional(),
  /** The pass that the request brings, and its age in seconds; absent and `none` mean no pass. */
  pass: z
    .union([z.literal('none'), z.strictObject({ level: z.literal(CHALLENGE_LEVELS), age: z.int().min(0).default(0) })])
    .optional(),
})

const Request = RequestMembers.refine(({ ip, as }) => (ip ?? as) !== undefined, { path: ['ip'], error: 'is missing' })

/** An event of an account replaces the request in the test. It names facts as the log writes them; other facts are unknown. */
const Event = z
  .strictObject({
    event: z.enum(ACCOUNT_EVENTS),
    outcome: z.enum(EVENT_OUTCOMES).optional(),
    user: z.string().min(1).optional(),
    identifier: z.string().min(1).optional(),
    mail: z.string().optional(),
    facts: z.array(z.enum(EVENT_FACTS.flatMap((fact) => [fact, `!${fact}`]))).default([]),
  })
  .refine(({ user, identifier }) => (user ?? identifier) !== undefined, 'must have a user or an identifier')

const Requested = {
  request: Request,
  event: Event.optional(),
  /** When the request arrives, ISO 8601; absent: noon of the last Monday in UTC, or immediately after the test before. */
  at: z.iso.datetime({ offset: true }).optional(),
  /** The status that the origin returns; absent: the response is no failure. */
  status: z.int().min(100).max(599).optional(),
  /** How often the request arrives, and at what interval. */
  times: z.int().min(1).max(100_000).default(1),
  every: z
    .string()
    .refine((text) => parseDuration(text) !== undefined, 'must be a duration such as 1s or 5m')
    .default('0s'),
}

const PolicyTest = z.strictObject({
  name: z.string(),
  ...Requested,
  /** Requests that arrived before it, in order: every test starts with empty counts. */
  before: z.array(z.strictObject(Requested)).default([]),
  expect: z
    .strictObject({
      action: z.enum(ACTIONS),
      class: z.enum(AGENT_CLASSES),
      /** Id of the rule that decides: a user's rule, a rule of the preset, or `default`. */
      rule: z.string(),
      enforced: z.boolean(),
      /** The stricter action of a rule on trial; `none` expects no such rule. */
      trial: z.enum([...ACTIONS.slice(1), 'none']),
      /** The status with which a block or an offer answers. */
      status: z.literal([402, 403, 451]),
    })
    .partial()
    .refine((expected) => Object.keys(expected).length > 0, 'needs at least one expectation'),
})

const PolicyTests = z.strictObject({
  /** If absent, the policy of the configuration applies. */
  policy: PolicySchema.optional(),
  tests: z.array(PolicyTest).min(1),
})

/** A request and the decision that the test expects. */
export type PolicyTest = z.output<typeof PolicyTest>

/** Reads a file of expectations; throws `invalid_config`, which names the file, the line and the key. */
export function readPolicyTests(file: string): z.output<typeof PolicyTests> {
  const layer = readFile(file)
  return parseValues(PolicyTests, layer.values, [layer])
}

/** Reads a policy: a file of its own, or the `policy` of a configuration. Throws `invalid_config`. */
export function readPolicy(file: string): Config['policy'] {
  const layer = narrowToPolicy(readFile(file))
  return parseValues(PolicySchema, layer.values, [layer])
}

const Described = RequestMembers.omit({ as: true }).extend({
  /** Says which headless traits the browser showed. */
  headless_flags: z.record(z.string(), z.boolean()).optional(),
})

/** Parses a request that is described outside a policy test; throws `invalid_config`, which names the file and the member. */
export function parseRequest(values: Mapping, file: string): z.output<typeof Described> {
  return parseValues(Described, values, [{ values, findPlace: () => ({ text: file, file }) }])
}
