import { SallyportError } from '@sallyport/core'
import { SPANS, type Span } from '../history/history.ts'
import { SUBJECTS } from '../history/subjects.ts'
import { briefOf, filterOf } from './brief.ts'
import type { Row } from './route.ts'
import { withoutAddresses } from './shown-address.ts'
import { answerStream } from './stream.ts'

const MAX_LISTED = 500
const TOP = 12

/** What the gate sees now, and what it saw. */
export function liveRows(): readonly Row[] {
  const streams = { open: 0 }
  return [
    {
      method: 'GET',
      path: 'live',
      role: 'read',
      answer({ query, now }, { history }) {
        const span = spanOf(query)
        const { hours } = SPANS[span]
        const tops = SUBJECTS.map((subject) => {
          const limit = subject === 'countries' ? 300 : TOP
          return [subject, history.top(subject, now, hours, limit)] as const
        })
        return { now, span, hours, ...history.read(span, now), tops: Object.fromEntries(tops) }
      },
    },
    {
      method: 'GET',
      path: 'requests',
      role: 'read',
      answer({ query }, { history, sallyport }) {
        const form = sallyport.config.log.addresses
        const filter = filterOf(query)
        const limit = Math.min(Math.max(1, Number(query.get('limit') ?? 100) || 1), MAX_LISTED)
        const found = history
          .recent()
          .filter((one) => filter(one, form))
          .slice(-limit)
          .reverse()
        return { requests: found.map((one) => briefOf(one, form)) }
      },
    },
    {
      method: 'GET',
      path: 'requests/*',
      role: 'read',
      answer({ rest }, { history, sallyport }) {
        const form = sallyport.config.log.addresses
        const found = history.find(rest)
        if (found === undefined) {
          throw new SallyportError('unknown_request', 'This request is not among the last ones that are remembered.')
        }
        const { observed } = found
        const whole = { ...found, brief: briefOf(found, form), mode: sallyport.config.mode }
        return withoutAddresses(whole, [observed.client, observed.peer], form)
      },
    },
    { method: 'GET', path: 'stream', role: 'read', answer: (call, parts) => answerStream(call, parts, streams) },
  ]
}

function spanOf(query: URLSearchParams): Span {
  const span = query.get('span') ?? '5m'
  if (!Object.hasOwn(SPANS, span)) throw new SallyportError('invalid_request', 'span: must be 5m, 1h or 24h')
  return span as Span
}
