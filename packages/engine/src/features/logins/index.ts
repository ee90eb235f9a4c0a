import { SallyportError } from '@sallyport/core'
import type { Feature } from '#service'
import type { Settings } from '#settings'
import type { AccountProtection, Assessment, ProtectionPorts } from './assess.ts'
import { keepDecisions } from './kept-decisions.ts'
import { readDescribed, readEvent } from './read-event.ts'
import type { visitUser as Visit } from './user-privacy.ts'

export type { AccountProtection, Assessment, Described } from './assess.ts'
export { createEventRules, type EventRules } from './event-rules.ts'
export type { DecisionKeeper } from './kept-decisions.ts'
export type { AccountEvent } from './read-event.ts'

/** Sign-up, login and other events of the accounts of an application. */
export const feature: Feature<Record<never, never>> = { keys: {} }

/** Exports or erases what is remembered of a user; commands alone load the stores for it. */
export const visitUser: typeof Visit = async (...asked) => (await import('./user-privacy.ts')).visitUser(...asked)

/** Opens the protection of accounts with the first event. `close` waits for events under way; later ones reject with `service_unavailable`. */
export function openProtection(config: Settings, ports: ProtectionPorts) {
  let loading: ReturnType<typeof load> | undefined
  let kept: ReturnType<typeof keepDecisions> | undefined
  const load = async () => (await import('./assess.ts')).openProtection(config, ports)
  const judging = new Set<Promise<unknown>>()
  let isClosed = false
  const checkOpen = () => {
    if (isClosed) throw new SallyportError('service_unavailable', 'The service is closed and assesses no more events.')
  }
  const judge: AccountProtection['assess'] = async (request, given) => {
    checkOpen()
    const event = readEvent(given)
    loading ??= load()
    return (await loading).assess(request, event)
  }
  const assess: AccountProtection['assess'] = (request, event) => {
    const judged = judge(request, event)
    const end = () => void judging.delete(judged)
    judging.add(judged)
    judged.then(end, end)
    return judged
  }
  return {
    events: {
      assess,
      keepDecisions() {
        checkOpen()
        kept ??= keepDecisions()
        const { find } = kept
        return (id: string) => {
          checkOpen()
          return find(id)
        }
      },
      async assessDescribed(body: unknown): Promise<Assessment> {
        const { request, event } = readDescribed(body)
        return assess({ sallyport: ports.inspection.decide(request), rawHeaders: request.fields }, event)
      },
    },
    async close(): Promise<void> {
      isClosed = true
      kept?.close()
      await Promise.allSettled(judging)
      await (await loading)?.close()
    },
  }
}
