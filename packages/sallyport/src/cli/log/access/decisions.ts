import { readEntry } from '@sallyport/engine'
import { isRequest } from '../entry.ts'
import type { AccessFormat } from './format.ts'
import { parseReading } from './reading.ts'

/** The decision log of Sallyport, in each of its forms. */
export const decisionFormat: AccessFormat = {
  name: 'sallyport',
  open: (_first, _isNamed, trust) => (line) => {
    // Bytes as letters, from the UTF-8 in which the log was written.
    const entry = line.startsWith('{') ? readEntry(Buffer.from(line, 'latin1').toString()) : undefined
    if (entry === undefined) return undefined
    if (!isRequest(entry) || entry.answeredBy === 'check') return 'comment'
    const { client, method, path, userAgent, time, status, action, answeredBy, refusedFor } = entry
    // A call of the API has no decision; other programs use the same names for the members of their lines.
    if (action === undefined) return (answeredBy ?? refusedFor) === undefined ? undefined : 'comment'
    return parseReading({ ip: client, method, target: path, userAgent, at: time, status }, trust)
  },
}
