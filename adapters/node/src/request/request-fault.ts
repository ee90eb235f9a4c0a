import type { IncomingMessage } from 'node:http'
import { type HeadFault, headFault } from './head-fault.ts'
import { readHead } from './head-fields.ts'
import { fieldsMissing } from './inspection-request.ts'
import { isBehindLast } from './last-request.ts'
import type { RequestHost } from './request-host.ts'

/** Why a Node request is refused before it is looked at. `target` is as received. */
export function requestFault(rules: RequestHost, req: IncomingMessage, target: string): HeadFault | undefined {
  // It is never sent: the answer before it ended the connection.
  if (isBehindLast(req)) return { status: 400, reason: 'The connection has ended.' }
  if (fieldsMissing(req)) return { status: 431, reason: 'The request has too many header fields.' }
  const { httpVersion, rawHeaders: fields } = req
  const read = readHead(fields, rules.singleHeader)
  return headFault({ httpVersion, target, fields }, read, rules.config?.paths ?? 'pass')
}
