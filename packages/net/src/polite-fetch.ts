import type { Fetch } from '@sallyport/core'
import { reasonOf } from './deadline.ts'
import { createPoliteness, type PolitenessOptions } from './politeness.ts'

/** The same outbound HTTP, with the requests to one host kept apart; the wait counts to a request's time. */
export function createPoliteFetch(outbound: Fetch, options: PolitenessOptions): Fetch {
  const politeness = createPoliteness(options)
  return {
    async fetch(request) {
      const start = performance.now()
      try {
        await politeness.turn(URL.canParse(request.url) ? new URL(request.url).host : request.url)
      } catch (error) {
        return { state: 'failed', reason: reasonOf(error) }
      }
      const timeoutMs = request.timeoutMs - Math.round(performance.now() - start)
      return timeoutMs > 0 ? outbound.fetch({ ...request, timeoutMs }) : { state: 'failed', reason: 'no time left' }
    },
  }
}
