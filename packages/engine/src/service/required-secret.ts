import cluster from 'node:cluster'
import { type CompiledPolicy, SallyportError } from '@sallyport/core'
import type { Settings } from '#settings'

type Asking = Pick<CompiledPolicy, 'rules' | 'events' | 'strikes'>

/** Why `challenge.secret` is needed: a policy asks, and one process would not know the passes of another. */
export function secretFault(config: Settings, policy: Asking): string | undefined {
  const asking = askingIn(policy)
  if (asking === undefined || !lacksSecret(config)) return undefined
  return `is missing: ${asking} challenges, and all processes need one secret to verify each other's passes`
}

/** Whether a process would not know the passes of others that share its counts. */
export function lacksSecret({ challenge, redis, store, data }: Settings): boolean {
  const shares = redis !== undefined || store?.startsWith('postgres') === true
  return challenge.secret === undefined && (shares || (data.readOnly && cluster.isWorker))
}

function askingIn({ rules, events, strikes = [] }: Asking): string | undefined {
  const rule = [...rules, ...events].find(({ challenge }) => challenge !== undefined)
  if (rule !== undefined) return `the rule "${rule.matched.id}"`
  return strikes.some(({ challenge }) => challenge !== undefined) ? 'policy.strikes' : undefined
}

/** Throws `invalid_config` where a policy needs a secret that is missing. */
export function requireSecret(config: Settings, policy: Asking): void {
  const fault = secretFault(config, policy)
  if (fault !== undefined) throw new SallyportError('invalid_config', `challenge.secret: ${fault}`)
}
