import { HOUR_MS, type ObservedRequest, SallyportError } from '@sallyport/core'
import { type LogLine, readHours, writeLine } from '@sallyport/engine'
import { type Fact, listFacts, listSignals } from '../explanation/decision-facts.ts'
import { convertHours, type HistoryReading, mergeReadings, SPANS, type Span } from '../history/history.ts'
import type { Share } from '../shares/share.ts'
import { type Brief, createFilter, FILTERS, toBrief } from './brief.ts'
import { takeNewest } from './newest.ts'
import type { ReadReports } from './reports.ts'
import { type Query, row } from './route.ts'
import { shownAddress, withoutAddresses } from './shown-address.ts'
import { answerStream, type OpenStreams, STREAMED } from './stream.ts'
import { parseNumber } from './values.ts'

const MAX_LISTED = 500
const TOP = 12

const READING: Share<{ readonly span: Span; readonly now: number }, HistoryReading> = {
  name: 'reading',
  own: ({ span, now }, { history }) => history.read(span, now),
}

const LISTED: Share<{ readonly filter: string; readonly limit: number }, readonly Brief[]> = {
  name: 'listed',
  own({ filter, limit }, { history, sallyport }) {
    const form = sallyport.config.log.addresses
    const fits = createFilter(new URLSearchParams(filter))
    const found = history.recent.list().filter((one) => fits(one, form))
    return found.slice(-limit).map((one) => toBrief(one, form))
  },
}

/** Writes remembered requests as lines of the decision log, the oldest first: one by its id, or those that ended since a moment. */
const LINES: Share<{ readonly id: string | undefined; readonly since: number }, readonly LogLine[]> = {
  name: 'lines',
  own({ id, since }, { history, sallyport }) {
    const form = sallyport.config.log.addresses
    return history.recent
      .list()
      .filter((one) => one.at + one.milliseconds >= since && (id === undefined || one.id === id))
      .map((observed) => writeLine(observed, shownAddress(observed.client, form) || undefined))
  },
}

/** Holds everything remembered about a request, and the explanation of its decision. */
interface Whole {
  readonly observed: ObservedRequest
  readonly facts: readonly Fact[]
  readonly signals: readonly Fact[]
}

const WHOLE: Share<{ readonly id: string }, { readonly found?: Whole | undefined }> = {
  name: 'whole',
  own({ id }, { history, sallyport }) {
    const observed = history.recent.find(id)
    if (observed === undefined) return {}
    const { client, peer, decision } = observed
    const facts = decision === undefined ? [] : listFacts(decision)
    const signals = decision === undefined ? [] : listSignals(decision.inspection.agent.reasons)
    return { found: withoutAddresses({ observed, facts, signals }, [client, peer], sallyport.config.log.addresses) }
  },
}

/** Serves live and past requests at the gate. */
export function liveRows(readReports: ReadReports) {
  const streams: OpenStreams = new Set()
  return [
    row({
      method: 'GET',
      path: 'live',
      role: 'read',
      takes: ['span'],
      shares: [READING],
      async answer({ query, now }, { gather, sallyport, since }) {
        const span = parseSpan(query)
        // The tally counts by the hour: a shorter span lies in this hour and the last.
        const until = Math.ceil(now / HOUR_MS) * HOUR_MS
        const [{ shares, silent }, reports, hours] = await Promise.all([
          gather(READING, { span, now }),
          readReports(sallyport.config, Math.max(SPANS[span].ms, HOUR_MS), now),
          span === '24h' ? readHours(sallyport.config, until - SPANS[span].ms, until) : undefined,
        ])
        const [own, ...others] = shares
        if (own === undefined) throw new SallyportError('service_unavailable')
        const counted = reports && {
          rules: reports.all.rules.slice(0, TOP),
          systems: reports.all.bySystem.slice(0, TOP),
          paths: reports.all.byPath.slice(0, TOP),
          crawlers: reports.crawlers.operators.slice(0, TOP),
          challenges: reports.all.challenges,
          countries: reports.all.byCountry,
        }
        const reading = hours === undefined ? mergeReadings([own, ...others]) : convertHours(hours)
        // The counts of a process are lost with it.
        const isPartial = hours === undefined && since > reading.from
        return {
          now,
          span,
          ...reading,
          since: isPartial ? since : null,
          counted: counted ?? null,
          processes: shares.length,
          silent,
        }
      },
    }),
    row({
      method: 'GET',
      path: 'requests',
      role: 'read',
      takes: ['limit', ...FILTERS],
      shares: [LISTED],
      async answer({ query }, { gather }) {
        const limit = parseNumber(query.get('limit'), { initial: 100, most: MAX_LISTED })
        const { shares } = await gather(LISTED, { filter: query.toString(), limit })
        return { requests: takeNewest(shares, limit) }
      },
    }),
    row({
      method: 'GET',
      path: 'requests/*',
      role: 'read',
      shares: [WHOLE],
      async answer({ rest }, { gather }) {
        const { shares } = await gather(WHOLE, { id: rest })
        const found = shares.find(({ found }) => found !== undefined)?.found
        if (found === undefined) {
          throw new SallyportError('unknown_request', 'This request is no longer in memory.')
        }
        return found
      },
    }),
    row({
      method: 'GET',
      path: 'lines',
      role: 'read',
      takes: ['id', 'since'],
      shares: [LINES],
      async answer({ query }, { gather }) {
        const [id, since] = [query.get('id') ?? undefined, Number(query.get('since') ?? 0)]
        const { shares, silent } = await gather(LINES, { id, since: Number.isFinite(since) ? since : 0 })
        return { lines: shares.flat().toSorted((x, y) => (x.time < y.time ? -1 : 1)), silent }
      },
    }),
    row({
      method: 'GET',
      path: 'stream',
      role: 'read',
      takes: FILTERS,
      shares: [STREAMED],
      answer: (call, parts) => answerStream(call, parts, streams),
    }),
  ]
}

function parseSpan(query: Query<'span'>): Span {
  const span = query.get('span') ?? '5m'
  if (!Object.hasOwn(SPANS, span)) throw new SallyportError('invalid_request', 'span: must be 5m, 1h or 24h')
  return span as Span
}
