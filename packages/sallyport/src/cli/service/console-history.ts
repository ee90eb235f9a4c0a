import type { Config } from '@sallyport/engine'
import { ADMIN, askGate } from './gate.ts'

/** Holds the history of an address, in the form of the other places of `sallyport privacy`. */
interface Place {
  readonly place: string
  readonly where: string
  readonly state: 'read' | 'absent' | 'elsewhere'
  readonly reason?: string | undefined
  readonly kept: string
  readonly entries: readonly unknown[]
}

const PLACE = {
  place: 'console history',
  kept: 'the last 4,000 requests of each process, sampled in busy seconds, in memory',
} as const

/** Reads a running service's history of an address from its console, because only memory holds it. */
export async function consoleKnown(config: Config, address: string): Promise<Place> {
  const place = { ...PLACE, where: config.admin ?? ADMIN, entries: [] }
  if (!config.console.enabled) return { ...place, state: 'absent' }
  const answer = await askGate(config, 'requests', { text: address, limit: '500' })
  // A service that does not run remembers nothing; a service that ends loses its memory.
  if ('reason' in answer) return { ...place, state: 'elsewhere', reason: answer.reason }
  const { requests } = answer.body as { readonly requests?: readonly { readonly client?: unknown }[] }
  const entries = requests?.filter(({ client }) => client === address) ?? []
  const found = { ...PLACE, where: answer.where, entries }
  const form = config.log.addresses
  if (form === 'full') return { ...found, state: 'read' }
  return {
    ...found,
    state: 'elsewhere',
    reason: `the console has addresses only in the form of log.addresses: ${form}`,
  }
}

/** Says that this history cannot be erased: it is in memory, and short. */
export function consoleErased(config: Config) {
  const reason = `${PLACE.kept}; later requests or a restart replace it`
  const state = config.console.enabled ? ('kept' as const) : ('absent' as const)
  return { place: PLACE.place, where: config.admin ?? ADMIN, state, reason, erased: 0 }
}
