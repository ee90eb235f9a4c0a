import { type CompiledPolicy, compilePolicy, type MountPolicy, type Surroundings } from '@sallyport/core'
import { z } from 'zod'
import { MountPolicySchema } from '#settings'
import { ConfigError } from './faults.ts'
import { schemaFaults } from './schema-faults.ts'
import { schemaTree } from './tree.ts'

/** Under the name by which faults speak of it. */
const Named = z.strictObject({ policy: MountPolicySchema })

/** Throws `invalid_config` and `invalid_policy`. */
export function compileMountPolicy(given: MountPolicy, surroundings: Surroundings): CompiledPolicy {
  const named = {
    policy: typeof given === 'string' ? { preset: given } : Array.isArray(given) ? { rules: given } : given,
  }
  const result = Named.safeParse(named)
  if (result.success) return compilePolicy(result.data.policy, surroundings)
  throw new ConfigError(schemaFaults(result.error, named, [], schemaTree(Named)))
}
