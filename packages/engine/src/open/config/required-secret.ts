import cluster from 'node:cluster'
import { type CompiledPolicy, SallyportError } from '@sallyport/core'
import type { Config } from './schema.ts'

/** Throws `invalid_config` where a policy asks, and one process would not know the passes of another. */
export function requireSecret(config: Config, { rules, strikes }: Pick<CompiledPolicy, 'rules' | 'strikes'>): void {
  const rule = rules.find(({ challenge }) => challenge !== undefined)
  const asking =
    rule === undefined
      ? strikes?.some(({ challenge }) => challenge !== undefined)
        ? 'policy.strikes'
        : undefined
      : `the rule "${rule.matched.id}"`
  if (asking === undefined || config.challenge.secret !== undefined) return
  const shares = config.redis !== undefined || config.store?.startsWith('postgres') === true
  if (!shares && !(config.data.readOnly && cluster.isWorker)) return
  const message = `challenge.secret: ${asking} asks, and all processes need one secret to know each other's passes`
  throw new SallyportError('invalid_config', message)
}
