import { listValues } from '../address/forwarding.ts'
import { isRecord } from '../is-record.ts'
import type { McpCall, McpFault, McpRequest } from '../values/mcp.ts'
import { findAmbiguous } from './ambiguous.ts'
import { invalidRequest, MISSING, mismatch, PARSE_ERROR, UNREADABLE } from './faults.ts'
import { comparesHeaders, type McpHeaders, readMcpHeaders } from './headers.ts'
import { nameMember } from './methods.ts'

/** A host has a body as bytes or as a parser's result, or says why it has none. `unseen`: only the head came here. */
export type McpBody =
  | { readonly bytes: Uint8Array }
  | { readonly parsed: unknown }
  | { readonly missing: 'too_large' | 'slow' | 'unseen' }

/** Limits the calls of one batch that are read. */
const MAX_CALLS = 100

/**
 * Reads the calls of a request from its raw fields and its body (MCP 2026-07-28 and before). The body counts: headers must repeat it, and
 * count alone only where the body is not seen. Returns `undefined` for a request that is not MCP.
 */
export function readMcpRequest(fields: readonly string[], body: McpBody): McpRequest | undefined {
  const headers = readMcpHeaders(fields)
  if ('missing' in body) return body.missing === 'unseen' ? readUnseen(headers) : refuse(MISSING[body.missing])
  if ('parsed' in body) return readValue(body.parsed, headers)
  if (!isPlainText(fields)) return refuse(UNREADABLE)
  const read = parseBytes(body.bytes)
  if (read !== undefined) return readValue(read.value, headers, read.text)
  return headers.isMarked || namesJson(fields) ? refuse(PARSE_ERROR) : undefined
}

/** Reports whether a request may be an MCP request: a POST of JSON, or of a type that some servers read as JSON. */
export function mayBeMcp({ method, fields }: { readonly method: string; readonly fields: readonly string[] }): boolean {
  if (method !== 'POST') return false
  const [type = ''] = listValues(fields, 'content-type')
  return namesJson(fields) || /^\s*(?:text\/plain|$)/i.test(type) || readMcpHeaders(fields).isMarked
}

function refuse(fault: McpFault): McpRequest {
  return { calls: [], ids: [], isBatch: false, fault }
}

/** Without a body only headers that the server compares with it are trusted. */
function readUnseen({ version, method, name, fault }: McpHeaders): McpRequest {
  if (fault !== undefined) return refuse(mismatch(fault))
  if (method === undefined || !comparesHeaders(version)) {
    return refuse(mismatch('the body is not seen here, and only from version 2026-07-28 on mcp-method repeats it'))
  }
  if (nameMember(method) !== undefined && name === undefined) return refuse(mismatch('mcp-name is required'))
  return { calls: [{ method, ...(name !== undefined && { name }) }], ids: [], isBatch: false }
}

function readValue(value: unknown, headers: McpHeaders, text?: string): McpRequest | undefined {
  const isBatch = Array.isArray(value)
  const messages: readonly unknown[] = isBatch ? value : [value]
  if (!headers.isMarked && !messages.some(isMessage)) return undefined
  const ids = messages.flatMap(readId)
  const fault = headers.fault === undefined ? bodyFault(messages, text) : mismatch(headers.fault)
  if (fault !== undefined) return { calls: [], ids, isBatch, fault }
  const calls = messages.flatMap((message) => readCall(message as Message))
  const differs = disagreement(headers, messages as readonly Message[], calls, isBatch)
  return { calls, ids, isBatch, ...(differs !== undefined && { fault: mismatch(differs) }) }
}

/** Such a message has no fault. */
interface Message {
  readonly method?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/** Servers that do not require `jsonrpc` carry out a method without it. */
function isMessage(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { method } = value
  const isNamed = typeof method === 'string' && nameMember(method) !== undefined
  return isNamed || Object.keys(value).some((key) => key.toLowerCase() === 'jsonrpc')
}

function readId(message: unknown): readonly (string | number)[] {
  if (!isRecord(message) || typeof message['method'] !== 'string') return []
  const { id } = message
  return typeof id === 'string' || typeof id === 'number' ? [id] : []
}

function bodyFault(messages: readonly unknown[], text: string | undefined): McpFault | undefined {
  if (messages.length === 0) return invalidRequest('the batch is empty')
  if (messages.length > MAX_CALLS) return invalidRequest(`a batch has at most ${MAX_CALLS} messages`)
  const ambiguous = text === undefined ? undefined : findAmbiguous(text)
  if (ambiguous !== undefined) return invalidRequest(`"${ambiguous}" comes twice, or in another case`)
  for (const message of messages) {
    const fault = messageFault(message)
    if (fault !== undefined) return invalidRequest(fault)
  }
  return undefined
}

function messageFault(message: unknown): string | undefined {
  if (!isRecord(message)) return 'a message must be an object'
  const { jsonrpc, method, params } = message
  if (jsonrpc !== '2.0') return 'jsonrpc must be "2.0"'
  // Clients of earlier versions send responses to the server too.
  if (method === undefined) return 'result' in message || 'error' in message ? undefined : 'method is missing'
  if (typeof method !== 'string') return 'method must be a string'
  const member = nameMember(method)
  if (member === undefined || params === undefined) return undefined
  if (!isRecord(params)) return 'params must be an object'
  const name = params[member]
  return name === undefined || typeof name === 'string' ? undefined : `params.${member} must be a string`
}

function readCall({ method, params }: Message): readonly McpCall[] {
  if (method === undefined) return []
  const member = nameMember(method) ?? ''
  const name = params?.[member] as string | undefined
  return [{ method, ...(name !== undefined && { name }) }]
}

const VERSION = 'io.modelcontextprotocol/protocolVersion'

/** Names the header that does not repeat the body. Only the server refuses a missing header. */
function disagreement(
  { version, method, name }: McpHeaders,
  messages: readonly Message[],
  [call]: readonly McpCall[],
  isBatch: boolean,
): string | undefined {
  if (method !== undefined && (isBatch || method !== call?.method)) return 'mcp-method is not the method of the body'
  if (name !== undefined && (isBatch || (call?.name !== undefined && name !== call.name))) {
    return 'mcp-name is not the name in the body'
  }
  const meta = messages[0]?.params?.['_meta']
  const inBody = isRecord(meta) ? meta[VERSION] : undefined
  const isOther = version !== undefined && inBody !== undefined && inBody !== version
  return isOther ? 'mcp-protocol-version is not the version in the body' : undefined
}

/** Parses JSON without a byte order mark, as parsers of servers do. */
function parseBytes(bytes: Uint8Array): { readonly text: string; readonly value: unknown } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Rejects codings and charsets by which a server would read other bytes than we do: UTF-7 writes another method in ASCII. */
function isPlainText(fields: readonly string[]): boolean {
  const codings = listValues(fields, 'content-encoding').map((coding) => coding.trim().toLowerCase())
  const charsets = listValues(fields, 'content-type').flatMap((type) => type.split(/charset/i).slice(1))
  return codings.every((coding) => coding === '' || coding === 'identity') && charsets.every((rest) => PLAIN.test(rest))
}

/** Behind the word `charset`, only these forms leave the bytes JSON's: any other may be another charset. */
const PLAIN = /^\s{0,8}=\s{0,8}["']?(?:utf-?8|us-ascii)["']?\s{0,8}(?:;|$)/i

function namesJson(fields: readonly string[]): boolean {
  return listValues(fields, 'content-type').some((type) => /json/i.test(type))
}
