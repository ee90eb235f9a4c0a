import { type CompiledPolicy, compilePolicy, type MountPolicy, type Surroundings } from '@sallyport/core'
import { z } from 'zod'
import { MountPolicySchema } from '#settings'
import { parseValues } from './parse.ts'

/** Under the name by which faults speak of it. */
const Named = z.strictObject({ policy: MountPolicySchema })

/** Throws `invalid_config` and `invalid_policy`. */
export function compileMountPolicy(given: MountPolicy, surroundings: Surroundings): CompiledPolicy {
  const policy = typeof given === 'string' ? { preset: given } : Array.isArray(given) ? { rules: given } : given
  return compilePolicy(parseValues(Named, { policy }).policy, surroundings)
}
