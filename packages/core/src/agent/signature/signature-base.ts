import { type Dictionary, type Parameters, serializeInnerList, serializeItem } from 'structured-headers'
import { readScheme } from '../../address/client-scheme.ts'
import { originForm } from '../../address/origin-form.ts'
import { queryParameters, strictForm } from './component-forms.ts'
import { dictionaryOf, fieldValue, isInnerList, type SentSignature, type SignedRequest } from './message.ts'

/**
 * The signature base (RFC 9421 section 2.5); `undefined` where a component is unknown, is there twice or is not in the
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
    const value = name.startsWith('@') ? derived(name, parameters, parts) : covered(name, parameters, parts)
    if (value === undefined || seen.has(identifier)) return undefined
    seen.add(identifier)
    lines.push(`${identifier}: ${value}`)
  }
  lines.push(`"@signature-params": ${serializeInnerList(inner)}`)
  return lines.join('\n')
}

/** A request of which each part is read once, however many components are of it: a signature may cover hundreds. */
class RequestParts {
  readonly request: SignedRequest
  readonly #dictionaries = new Map<string, Dictionary | undefined>()
  #fields: ReadonlyMap<string, string> | undefined
  #query: ReadonlyMap<string, string | undefined> | undefined

  constructor(request: SignedRequest) {
    this.request = request
  }

  /** All lines of a field, by its name in lower case. */
  field(name: string): string | undefined {
    this.#fields ??= joinedFields(this.request.fields)
    return this.#fields.get(name)
  }

  /** The field as a dictionary; `undefined` where it is none. */
  dictionary(name: string): Dictionary | undefined {
    if (!this.#dictionaries.has(name)) this.#dictionaries.set(name, dictionaryOf(this.field(name) ?? ''))
    return this.#dictionaries.get(name)
  }

  /** A parameter of the query, by its encoded name. */
  parameter(name: string): string | undefined {
    this.#query ??= queryParameters(this.request.target ?? '')
    return this.#query.get(name)
  }
}

/** Fields by their names in lower case, the lines of each joined as `fieldValue` joins them. */
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

/** Derived components (RFC 9421 section 2.2); but for the name of a query parameter none is known here with parameters. */
function derived(name: string, parameters: Parameters, parts: RequestParts): string | undefined {
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
      return authorityOf(request)
    case '@method':
      return request.method
    case '@scheme':
      return schemeOf(request)
    case '@request-target':
      return request.target
    default:
      return request.target === undefined ? undefined : derivedOfTarget(name, originForm(request.target), request)
  }
}

/** Components of a target, which a client may also write with its site before it. */
function derivedOfTarget(name: string, target: string, request: SignedRequest): string | undefined {
  const mark = target.indexOf('?')
  switch (name) {
    case '@path':
      return (mark === -1 ? target : target.slice(0, mark)) || '/'
    case '@query':
      return mark === -1 ? '?' : target.slice(mark)
    case '@target-uri': {
      const scheme = schemeOf(request)
      const authority = authorityOf(request)
      return scheme && authority && `${scheme}://${authority}${target}`
    }
    default:
      return undefined
  }
}

/** A header field, whole, strictly or one member of it; other parameters change what is covered and are not known. */
function covered(name: string, parameters: Parameters, parts: RequestParts): string | undefined {
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
 * RFC 9421 section 2.2.3: lower case, without the default port. A proxy that keeps Host passes X-Forwarded-Host of a client
 * on as it is, so no header is believed that is not named.
 */
function authorityOf(request: SignedRequest): string | undefined {
  const host = (namedAuthority(request) ?? receivedHost(request))?.toLowerCase()
  // Two hosts joined by a comma are none.
  if (host === undefined || host === '' || host.includes(',')) return undefined
  const port = DEFAULT_PORTS[schemeOf(request) ?? 'https']
  return port !== undefined && host.endsWith(port) ? host.slice(0, -port.length) : host
}

function namedAuthority({ fields, trusted, authorityHeader }: SignedRequest): string | undefined {
  return trusted && authorityHeader !== undefined ? fieldValue(fields, authorityHeader) : undefined
}

function receivedHost({ fields }: SignedRequest): string | undefined {
  return fieldValue(fields, ':authority') ?? fieldValue(fields, 'host')
}

/** Whether a trusted proxy may have put another Host in place of the client's, and none of its headers is believed about that. */
export function mayHideHost(request: SignedRequest): boolean {
  if (request.trusted !== true || request.authorityHeader !== undefined) return false
  const forwarded = fieldValue(request.fields, 'x-forwarded-host')
  return forwarded !== undefined && forwarded.toLowerCase() !== receivedHost(request)?.toLowerCase()
}

/** The scheme that a trusted proxy names, else the socket's. */
function schemeOf({ fields, scheme, trusted }: SignedRequest): string | undefined {
  const forwarded = trusted ? fieldValue(fields, 'x-forwarded-proto') : undefined
  if (forwarded !== undefined) return readScheme(forwarded)
  return scheme === 'unknown' ? undefined : scheme
}
