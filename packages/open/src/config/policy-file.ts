import { ACTIONS, AGENT_CLASSES, SallyportError } from '@sallyport/core'
import { z } from 'zod'
import { firstIssue, readFile } from './read.ts'
import { type Config, PolicySchema } from './schema.ts'

const Request = z.strictObject({
  ip: z.string(),
  method: z.string().default('GET'),
  path: z.string().startsWith('/').default('/'),
  scheme: z.enum(['http', 'https', 'unknown']).default('unknown'),
  /** Absent: no header is known but the user agent. */
  headers: z.record(z.string(), z.string()).optional(),
  userAgent: z.string().optional(),
  ja4: z.string().optional(),
})

const PolicyTest = z.strictObject({
  name: z.string(),
  request: Request,
  /** When it is, ISO 8601; absent: now. */
  at: z.iso.datetime({ offset: true }).optional(),
  expect: z
    .strictObject({
      action: z.enum(ACTIONS),
      class: z.enum(AGENT_CLASSES),
      /** Id of the deciding rule: one's own, the preset's, or `default`. */
      rule: z.string(),
      enforced: z.boolean(),
      /** What a rule on trial would have done that is stricter; `none` for no such rule. */
      trial: z.enum(['flag', 'block', 'none']),
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

/** Reads a file of expectations; throws `invalid_config` that names the file and the key. */
export function readPolicyTests(file: string): PolicyTests {
  return parsed(PolicyTests, readFile(file), file)
}

/** Reads a policy: a file of its own, or the `policy` of a configuration. Throws `invalid_config`. */
export function readPolicy(file: string): Config['policy'] {
  const written = readFile(file)
  return parsed(PolicySchema, written['policy'] ?? written, file)
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown, file: string): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new SallyportError('invalid_config', `${file}: ${firstIssue(result.error)}`)
}
