import { type Dictionary, type Parameters, serializeInnerList, serializeItem } from 'structured-headers'
import { readScheme } from '../../address/client-scheme.ts'
import { originForm } from '../../address/origin-form.ts'
import { queryParameters, strictForm } from './component-forms.ts'
import { fieldValue, isInnerList, parseFields, type SentSignature, type SignedRequest } from './message.ts'

/**
 * Builds the signature base (RFC 9421 section 2.5); returns `undefined` where a component is unknown, occurs twice or is not in the
 * request.
 */
export function signatureBase(
  { components, inner }: Pick<SentSignature, 'components' | 'inner'>,
  request: SignedRequest,
): string | undefined {
  const parts = new RequestParts(request)
  const lines: string[] = []
  const seen = new Set<string>()
  for (const component of components) {
    const [name, parameters] = component
    if (typeof name !== 'string') return undefined
    const identifier = serializeItem(component)
    const value = name.startsWith('@') ? readDerived(name, parameters, parts) : readCovered(name, parameters, parts)
    if (value === undefined || seen.has(identifier)) return undefined
    seen.add(identifier)
    lines.push(`${identifier}: ${value}`)
  }
  lines.push(`"@signature-params": ${serializeInnerList(inner)}`)
  return lines.join('\n')
}

/** Reads each part of a request once, however many components cover it: a signature may cover hundreds. */
class RequestParts {
  readonly request: SignedRequest
  readonly #dictionaries = new Map<string, Dictionary | undefined>()
  #fields: ReadonlyMap<string, string> | undefined
  #query: ReadonlyMap<string, string | undefined> | undefined

  constructor(request: SignedRequest) {
    this.request = request
  }

  /** Returns all lines of a field, by its name in lower case. */
  field(name: string): string | undefined {
    this.#fields ??= joinedFields(this.request.fields)
    return this.#fields.get(name)
  }

  /** Returns the field as a dictionary; `undefined` where it is not a dictionary. */
  dictionary(name: string): Dictionary | undefined {
    if (!this.#dictionaries.has(name)) this.#dictionaries.set(name, parseFields(this.field(name) ?? ''))
    return this.#dictionaries.get(name)
  }

  /** Returns a parameter of the query, by its encoded name. */
  parameter(name: string): string | undefined {
    this.#query ??= queryParameters(this.request.target ?? '')
    return this.#query.get(name)
  }
}

/** Joins the lines of each field as `fieldValue` does, by names in lower case. */
function joinedFields(fields: readonly string[]): ReadonlyMap<string, string> {
  const joined = new Map<string, string>()
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase()
    const value = (fields[at + 1] as string).trim()
    const before = joined.get(name)
    joined.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return joined
}

/** Returns derived components (RFC 9421 section 2.2); of those with parameters only the query parameter's name is supported. */
function readDerived(name: string, parameters: Parameters, parts: RequestParts): string | undefined {
  const { request } = parts
  if (name === '@query-param') {
    const wanted = parameters.get('name')
    return parameters.size === 1 && typeof wanted === 'string' ? parts.parameter(wanted) : undefined
  }
  if (name === '@authority' && request.answeredTo !== undefined) {
    return parameters.size === 1 && parameters.get('req') === true ? request.answeredTo.host : undefined
  }
  if (parameters.size > 0) return undefined
  switch (name) {
    case '@authority':
      return readAuthority(request)
    case '@method':
      return request.method
    case '@scheme':
      return requestScheme(request)
    case '@request-target':
      return request.target
    default:
      return request.target === undefined ? undefined : deriveFromTarget(name, originForm(request.target), request)
  }
}

/** Returns components of a target, which a client may also write with its site before it. */
function deriveFromTarget(name: string, target: string, request: SignedRequest): string | undefined {
  const mark = target.indexOf('?')
  switch (name) {
    case '@path':
      return (mark === -1 ? target : target.slice(0, mark)) || '/'
    case '@query':
      return mark === -1 ? '?' : target.slice(mark)
    case '@target-uri': {
      const scheme = requestScheme(request)
      const authority = readAuthority(request)
      return scheme && authority && `${scheme}://${authority}${target}`
    }
    default:
      return undefined
  }
}

/** Returns a header field whole, in its strict form, or one member of it; other parameters change what is covered and are not supported. */
function readCovered(name: string, parameters: Parameters, parts: RequestParts): string | undefined {
  const value = parts.field(name)
  if (value === undefined || parameters.size === 0) return value
  if (parameters.size === 1 && parameters.get('sf') === true) return strictForm(name, value)
  const key = parameters.get('key')
  if (parameters.size !== 1 || typeof key !== 'string') return undefined
  const member = parts.dictionary(name)?.get(key)
  if (member === undefined) return undefined
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member)
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' }

/**
 * RFC 9421 section 2.2.3 requires lower case, without the default port. A proxy that keeps Host passes a client's X-Forwarded-Host on
 * unchanged, so only a configured header is trusted.
 */
export function readAuthority(request: SignedRequest): string | undefined {
  const host = (namedAuthority(request) ?? receivedHost(request))?.toLowerCase()
  // Two hosts joined by a comma are not a host.
  if (host === undefined || host === '' || host.includes(',')) return undefined
  const port = DEFAULT_PORTS[requestScheme(request) ?? 'https']
  return port !== undefined && host.endsWith(port) ? host.slice(0, -port.length) : host
}

function namedAuthority({ fields, trusted, authorityHeader }: SignedRequest): string | undefined {
  return trusted && authorityHeader !== undefined ? fieldValue(fields, authorityHeader) : undefined
}

function receivedHost({ fields }: SignedRequest): string | undefined {
  return fieldValue(fields, ':authority') ?? fieldValue(fields, 'host')
}

/** Reports whether a trusted proxy may have replaced the client's Host, while no header of it is trusted for the host. */
export function mayHideHost(request: SignedRequest): boolean {
  if (request.trusted !== true || request.authorityHeader !== undefined) return false
  const forwarded = fieldValue(request.fields, 'x-forwarded-host')
  return forwarded !== undefined && forwarded.toLowerCase() !== receivedHost(request)?.toLowerCase()
}

/** Returns the scheme that a trusted proxy names, else the socket's. */
function requestScheme({ fields, scheme, trusted }: SignedRequest): string | undefined {
  const forwarded = trusted ? fieldValue(fields, 'x-forwarded-proto') : undefined
  if (forwarded !== undefined) return readScheme(forwarded)
  return scheme === 'unknown' ? undefined : scheme
}
