import { HOUR_MS, type ObservedRequest, SallyportError } from '@sallyport/core'
import { type LogLine, readHours, writeLine } from '@sallyport/engine'
import { type Fact, listFacts, listSignals } from '../explanation/decision-facts.ts'
import { convertHours, type HistoryReading, mergeReadings, SPANS, type Span } from '../history/history.ts'
import { challengesSection } from '../report/tally-sections.ts'
import { type Share, takeNewest } from '../shares/share.ts'
import { type Brief, createFilter, FILTERS, type Filters, toBrief } from './brief.ts'
import type { ReadReports } from './report.ts'
import { get } from './route.ts'
import { shownAddress, withoutAddresses } from './shown-address.ts'
import { answerStream, type OpenStreams, STREAMED } from './stream.ts'
import { parseNumber, parseSpan } from './values.ts'

const MAX_LISTED = 500
const TOP = 12

const READING: Share<{ readonly span: Span; readonly now: number }, HistoryReading> = {
  name: 'reading',
  own: ({ span, now }, { history }) => history.read(span, now),
}

const LISTED: Share<{ readonly filters: Filters; readonly limit: number }, readonly Brief[]> = {
  name: 'listed',
  own({ filters, limit }, { history, sallyport }) {
    const form = sallyport.config.log.addresses
    const fits = createFilter(filters)
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
export interface Whole {
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
    get('live', { takes: ['span'], shares: [READING] }, async ({ asked, now }, { gather, sallyport, since }) => {
      const span = parseSpan(SPANS, asked.span, '5m')
      // The tally counts by the hour: a shorter span lies in this hour and the last.
      const until = Math.ceil(now / HOUR_MS) * HOUR_MS
      const [{ shares, silent }, reports, hours] = await Promise.all([
        gather(READING, { span, now }),
        readReports(sallyport.config, Math.max(SPANS[span].ms, HOUR_MS), now),
        span === '24h' ? readHours(sallyport.config, until - SPANS[span].ms, until) : undefined,
      ])
      const counted = reports && {
        rules: reports.all.rules.slice(0, TOP),
        systems: reports.all.bySystem.slice(0, TOP),
        paths: reports.all.byPath.slice(0, TOP),
        crawlers: reports.crawlers.operators.slice(0, TOP),
        challenges: reports.all.challenges.length === 0 ? null : challengesSection(reports.all),
        countries: reports.all.byCountry,
      }
      const reading = hours === undefined ? mergeReadings(shares) : convertHours(hours)
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
    }),
    get('requests', { takes: ['limit', ...FILTERS], shares: [LISTED] }, async ({ asked }, { gather }) => {
      const { limit: given, ...filters } = asked
      const limit = parseNumber(given, { initial: 100, most: MAX_LISTED })
      const { shares } = await gather(LISTED, { filters, limit })
      return { requests: takeNewest(shares, limit) }
    }),
    get('requests/*', { shares: [WHOLE] }, async ({ rest }, { gather }) => {
      const { shares } = await gather(WHOLE, { id: rest })
      const found = shares.find(({ found }) => found !== undefined)?.found
      if (found === undefined) throw new SallyportError('unknown_request', 'This request is no longer in memory.')
      return found
    }),
    get('lines', { takes: ['id', 'since'], shares: [LINES] }, async ({ asked: { id, since } }, { gather }) => {
      const { shares, silent } = await gather(LINES, { id, since: Number(since ?? 0) || 0 })
      return { lines: shares.flat().toSorted((x, y) => (x.time < y.time ? -1 : 1)), silent }
    }),
    get('stream', { takes: FILTERS, shares: [STREAMED] }, (call, parts) => answerStream(call, parts, streams)),
  ]
}
