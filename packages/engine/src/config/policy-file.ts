import { ACTIONS, AGENT_CLASSES, CHALLENGE_LEVELS, HTTP_VERSIONS, isRecord, parseDuration } from '@sallyport/core'
import { z } from 'zod'
import { PolicySchema } from '#settings'
import { ConfigError } from './faults.ts'
import { readFile } from './file.ts'
import type { Layer, Mapping } from './layers.ts'
import type { Config } from './schema.ts'
import { schemaFaults } from './schema-faults.ts'
import { schemaTree } from './tree.ts'

const Request = z.strictObject({
  ip: z.string(),
  method: z.string().default('GET'),
  path: z.string().startsWith('/').default('/'),
  scheme: z.enum(['http', 'https', 'unknown']).default('unknown'),
  /** Absent: no header is known but the user agent. A field that is sent several times is a list. */
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
  userAgent: z.string().optional(),
  /** A visitor by its name, whose headers come before those that are written. */
  as: z.string().optional(),
  /** Those that nobody says are not known, and rules that ask for them not judged. */
  host: z.string().optional(),
  httpVersion: z.enum(HTTP_VERSIONS).optional(),
  ja4: z.string().optional(),
  load: z.number().nonnegative().optional(),
  /** The pass that it brings, and its age in seconds; absent and `none`: none. */
  pass: z
    .union([z.literal('none'), z.strictObject({ level: z.literal(CHALLENGE_LEVELS), age: z.int().min(0).default(0) })])
    .optional(),
})

const Requested = {
  request: Request,
  /** When it is, ISO 8601; absent: noon of the last Monday in UTC, or at once after the one before. */
  at: z.iso.datetime({ offset: true }).optional(),
  /** Status of the answers of the origin; absent: they are no failure. */
  status: z.int().min(100).max(599).optional(),
  /** How often it comes, and in what intervals. */
  times: z.int().min(1).max(100_000).default(1),
  every: z
    .string()
    .refine((text) => parseDuration(text) !== undefined, 'must be a duration, as 1s or 5m')
    .default('0s'),
}

const PolicyTest = z.strictObject({
  name: z.string(),
  ...Requested,
  /** Requests that came before it, in order: every test counts from nothing. */
  before: z.array(z.strictObject(Requested)).default([]),
  expect: z
    .strictObject({
      action: z.enum(ACTIONS),
      class: z.enum(AGENT_CLASSES),
      /** Id of the deciding rule: one's own, the preset's, or `default`. */
      rule: z.string(),
      enforced: z.boolean(),
      /** The stricter action of a rule on trial; `none` for no such rule. */
      trial: z.enum(['flag', 'redirect', 'challenge', 'throttle', 'block', 'none']),
    })
    .partial()
    .refine((expected) => Object.keys(expected).length > 0, 'must expect something'),
})

const PolicyTests = z.strictObject({
  /** Absent: the configuration's. */
  policy: PolicySchema.optional(),
  tests: z.array(PolicyTest).min(1),
})

/** A request and what the policy is expected to do about it. */
export type PolicyTest = z.output<typeof PolicyTest>
export type PolicyTests = z.output<typeof PolicyTests>
export type TestedRequest = PolicyTest['request']

/** Reads a file of expectations; throws `invalid_config` that names the file, the line and the key. */
export function readPolicyTests(file: string): PolicyTests {
  const layer = readFile(file)
  return parsed(PolicyTests, layer.values, layer)
}

/** Reads a policy: a file of its own, or the `policy` of a configuration. Throws `invalid_config`. */
export function readPolicy(file: string): Config['policy'] {
  const { values, placeOf } = readFile(file)
  const within = values['policy']
  if (!isRecord(within)) return parsed(PolicySchema, values, { values, placeOf })
  return parsed(PolicySchema, within, { values: within, placeOf: (path) => placeOf(['policy', ...path]) })
}

function parsed<Schema extends z.ZodType>(schema: Schema, values: Mapping, layer: Layer): z.output<Schema> {
  const result = schema.safeParse(values)
  if (result.success) return result.data
  throw new ConfigError(schemaFaults(result.error, values, [layer], schemaTree(schema)))
}
