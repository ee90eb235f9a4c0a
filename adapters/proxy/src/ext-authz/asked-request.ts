import type { CheckRequest, Header, HttpRequest } from './definition.ts'

/** The request that a call asks about, in the way of Envoy's check over HTTP: `fields` begin with its Host. */
export interface AskedRequest {
  readonly method: string
  readonly target: string
  readonly fields: readonly string[]
  /** Address of who connected to Envoy. */
  readonly visitor: string
}

/** The same, or why a call asks about nothing that can be judged. */
export type Reading = AskedRequest | { readonly fault: string }

const NAME = /^[\w!#$%&'*+.^`|~-]+$/
/** Without what would end a field in HTTP/1, which no server takes. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const METHOD = /^[\w!#$%&'*+.^`|~-]{0,64}$/

/** Reads a message; what only a program other than Envoy sends is a fault, and the rest is for the checks of every request. */
export function readAsked({ attributes }: CheckRequest): Reading {
  const http = attributes?.request?.http
  if (!http) return { fault: 'the call names no request' }
  const visitor = attributes?.source?.address?.socketAddress?.address ?? ''
  if (visitor === '') return { fault: 'source.address is missing' }
  const [method, target, host] = [textOf(http.method), textOf(http.path), textOf(http.host)]
  if (!METHOD.test(method) || !VALUE.test(target)) return { fault: 'the method or the path holds invalid bytes' }
  const fields = fieldsOf(http, host)
  return fields === undefined ? { fault: 'a header holds invalid bytes' } : { method, target, fields, visitor }
}

/** `undefined` where a name or a value is none of HTTP. */
function fieldsOf(http: HttpRequest, host: string): readonly string[] | undefined {
  const fields = host === '' ? [] : ['Host', host]
  let hasScheme = false
  for (const header of headersOf(http)) {
    const name = textOf(header.key)
    // Pseudo headers and the Host are attributes of their own.
    if (name.startsWith(':') || name.toLowerCase() === 'host') continue
    const value = textOf(header.rawValue?.length ? header.rawValue : header.value)
    if (!NAME.test(name) || !VALUE.test(value)) return undefined
    if (name.toLowerCase() === 'x-forwarded-proto') hasScheme = true
    fields.push(name, value)
  }
  if (!VALUE.test(host)) return undefined
  const scheme = textOf(http.scheme)
  if (!hasScheme && /^https?$/.test(scheme)) fields.push('X-Forwarded-Proto', scheme)
  return fields
}

function headersOf({ headers = [], headerMap }: HttpRequest): readonly Header[] {
  const raw = headerMap?.headers ?? []
  return raw.length > 0 ? raw : headers
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
