import cluster from 'node:cluster'
import { type CompiledPolicy, SallyportError } from '@sallyport/core'
import type { Config } from './schema.ts'

/** Why `challenge.secret` is needed: a policy asks, and one process would not know the passes of another. */
export function secretFault(config: Config, { rules }: Pick<CompiledPolicy, 'rules'>): string | undefined {
  const rule = rules.find(({ challenge }) => challenge !== undefined)
  if (rule === undefined || config.challenge.secret !== undefined) return undefined
  const shares = config.redis !== undefined || config.store?.startsWith('postgres') === true
  if (!shares && !(config.data.readOnly && cluster.isWorker)) return undefined
  return `is missing: the rule "${rule.matched.id}" asks, and all processes need one secret to know each other's passes`
}

/** Throws `invalid_config` where a policy needs a secret that is missing. */
export function requireSecret(config: Config, policy: Pick<CompiledPolicy, 'rules'>): void {
  const fault = secretFault(config, policy)
  if (fault !== undefined) throw new SallyportError('invalid_config', `challenge.secret: ${fault}`)
}
