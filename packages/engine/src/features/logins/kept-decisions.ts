import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Decision } from '@sallyport/core'
import { LRUCache } from 'lru-cache'

/** Keeps decisions for plugins of other libraries. */
export interface DecisionKeeper {
  /** Keeps decisions from the first call until the service closes. */
  keepDecisions(): (id: string) => Decision | undefined
}

/** Keeps the last decisions about POST requests, for hosts that make a new request of the one that was inspected. */
export function keepDecisions() {
  const kept = new LRUCache<string, Decision>({ max: 10_000 })
  const keep = (message: unknown) => {
    const { decision } = message as { readonly decision: Decision }
    if (decision.id !== undefined && decision.inspection.request.method === 'POST') kept.set(decision.id, decision)
  }
  subscribe('sallyport.decision', keep)
  return { find: (id: string) => kept.get(id), close: () => void unsubscribe('sallyport.decision', keep) }
}
