import { ACCOUNT_EVENTS, EVENT_OUTCOMES, type InspectedEvent, parseCalls, parseEventFacts } from '@sallyport/core'
import { type LogLine, readEntry } from '@sallyport/engine'
import { isRequest } from '../entry.ts'
import { type AccessFormat, parseReading } from './reading.ts'

export const decisionFormat: AccessFormat = {
  name: 'sallyport',
  open: (_first, _isNamed, trust) => (line) => {
    // The line holds bytes as letters; the log was written in UTF-8.
    const entry = line.startsWith('{') ? readEntry(Buffer.from(line, 'latin1').toString()) : undefined
    if (entry === undefined) return undefined
    if (!isRequest(entry) || entry.answeredBy === 'check') return 'comment'
    const { client, method, path, userAgent, time, status, action, answeredBy, refusedFor } = entry
    // A call of the API has no decision; other programs use the same names for members of their lines.
    if (action === undefined) return (answeredBy ?? refusedFor) === undefined ? undefined : 'comment'
    const reading = parseReading({ ip: client, method, target: path, userAgent, at: time, status }, trust)
    const event = readEvent(entry)
    if ('lacks' in reading) return reading
    const mcp = Array.isArray(entry.mcp) ? parseCalls(entry.mcp.map(String)) : undefined
    return { ...reading, ...(event && { event }), ...(mcp && { mcp }) }
  },
}

/** Reads the event of a line; no log has the domain of its mail address. */
function readEvent(line: LogLine): InspectedEvent | undefined {
  const event = ACCOUNT_EVENTS.find((name) => name === line.event)
  const outcome = EVENT_OUTCOMES.find((name) => name === line.outcome)
  const { identifiers = [], facts = [] } = line
  return event && { event, outcome, identifiers, ...parseEventFacts(facts), reasons: [] }
}
