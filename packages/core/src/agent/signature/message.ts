import {
  type Dictionary,
  type InnerList,
  type Item,
  type Parameters,
  parseDictionary,
  parseItem,
  serializeInnerList,
  serializeItem,
} from 'structured-headers'
import { isNamed } from '../../address/forwarding.ts'
import { queryParameter, strictForm } from './component-forms.ts'

/** A request as far as a signature can cover it. Absent members are not known, so nothing that covers them verifies. */
export interface SignedRequest {
  readonly fields: readonly string[]
  readonly method?: string | undefined
  /** As received. */
  readonly target?: string | undefined
  readonly scheme?: 'http' | 'https' | 'unknown' | undefined
  /** The peer is a trusted proxy, whose word on the scheme is taken, and on the host in `authorityHeader`. */
  readonly trusted?: boolean | undefined
  /** The header in which trusted proxies name the host that the client asked for, in lower case; absent: they keep Host. */
  readonly authorityHeader?: string | undefined
  /** Its `@path` is taken with the query, as some agents sign it. */
  readonly pathWithQuery?: true | undefined
  /** The message is an answer to a request for this URL, of which a component with `req` tells. */
  readonly answeredTo?: URL | undefined
}

/** One labelled signature as it was sent. */
export interface SentSignature {
  readonly label: string
  readonly components: readonly Item[]
  readonly parameters: Parameters
  /** The strict form of components and parameters: the last line of the base. */
  readonly inner: InnerList
  readonly signature: Uint8Array
}

/** The signer, as `Signature-Agent` names it. */
export interface NamedAgent {
  readonly uri: string
  readonly type: string
}

export type SignatureAgents =
  | { readonly form: 'none' }
  /** The bare string of the first drafts. */
  | { readonly form: 'string'; readonly agent: NamedAgent }
  | { readonly form: 'dictionary'; readonly members: ReadonlyMap<string, NamedAgent> }

/** Most bytes of the three fields together, and most labels that are looked at. */
export const MAX_BYTES = 8192
const MAX_LABELS = 4

/** All lines of a field, joined as RFC 9421 section 2.1 says; `undefined` when there is none. */
export function fieldValue(fields: readonly string[], name: string): string | undefined {
  let joined: string | undefined
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isNamed(fields[at] as string, name)) continue
    const value = (fields[at + 1] as string).trim()
    joined = joined === undefined ? value : `${joined}, ${value}`
  }
  return joined
}

/** The signatures of a message, each read alone. */
export interface ReadSignatures {
  readonly signatures: readonly SentSignature[]
  /** Why a label with this tag, or without any, cannot be read. */
  readonly fault?: string | undefined
}

/**
 * The signatures of a message that have one of these tags; a label with another is between other parties, whatever is wrong with it.
 * `fault` alone: the fields cannot be read.
 */
export function readSignatures(
  fields: readonly string[],
  tags?: readonly string[],
): ReadSignatures | { readonly fault: string } {
  const input = fieldValue(fields, 'signature-input')
  const sent = fieldValue(fields, 'signature')
  if (input === undefined || sent === undefined) return { fault: 'one of Signature and Signature-Input is missing' }
  if (input.length + sent.length > MAX_BYTES) return { fault: `the signature fields exceed ${MAX_BYTES} bytes` }
  const inputs = dictionaryOfLines(fields, 'signature-input')
  const values = dictionaryOfLines(fields, 'signature')
  if (inputs === undefined || values === undefined) return { fault: 'Signature or Signature-Input is malformed' }
  const signatures: SentSignature[] = []
  let fault: string | undefined
  for (const [label, inner] of inputs) {
    const isSignature = isInnerList(inner)
    if (isSignature && tags?.includes(String(inner[1].get('tag'))) === false) continue
    const signature = values.get(label)?.[0]
    if (!isSignature || !(signature instanceof ArrayBuffer)) {
      fault ??= `"${label}" is not a signature`
      continue
    }
    if (signatures.length === MAX_LABELS) return { fault: `there are more than ${MAX_LABELS} signatures` }
    const [components, parameters] = inner
    signatures.push({ label, components, parameters, inner, signature: new Uint8Array(signature) })
  }
  return { signatures, fault }
}

/** The whole of a field, else of its lines those that can be read: one that is not of these spoils no other. */
function dictionaryOfLines(fields: readonly string[], name: string): Dictionary | undefined {
  const whole = dictionaryOf(fieldValue(fields, name) ?? '')
  if (whole !== undefined) return whole
  const members: Dictionary = new Map()
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!isNamed(fields[at] as string, name)) continue
    for (const [key, member] of dictionaryOf((fields[at + 1] as string).trim()) ?? []) members.set(key, member)
  }
  return members.size === 0 ? undefined : members
}

/**
 * `Signature` of draft-cavage-http-signatures, which servers of the fediverse send: another protocol of the same name, without
 * `Signature-Input` and without quotes or colons around what follows its label.
 */
export function isOldSignature(fields: readonly string[]): boolean {
  if (fieldValue(fields, 'signature-input') !== undefined) return false
  const value = fieldValue(fields, 'signature') ?? ''
  return value.includes('keyId="') && value.includes('signature="')
}

/** Reads `Signature-Agent` in both forms; `undefined` when it is malformed. */
export function readAgents(fields: readonly string[]): SignatureAgents | undefined {
  const value = fieldValue(fields, 'signature-agent')
  if (value === undefined) return { form: 'none' }
  if (value.length > MAX_BYTES) return undefined
  if (value.startsWith('"')) {
    const item = attempt(() => parseItem(value))
    const agent = item && agentOf(item)
    return agent && { form: 'string', agent }
  }
  const members = new Map<string, NamedAgent>()
  for (const [key, member] of dictionaryOf(value) ?? []) {
    const agent = isInnerList(member) ? undefined : agentOf(member)
    if (agent === undefined) return undefined
    members.set(key, agent)
  }
  return members.size === 0 ? undefined : { form: 'dictionary', members }
}

function agentOf([uri, parameters]: Item): NamedAgent | undefined {
  if (typeof uri !== 'string') return undefined
  return { uri, type: String(parameters.get('type') ?? 'directory') }
}

/**
 * The signature base (RFC 9421 section 2.5, D58); `undefined` where a component is unknown, is there twice or is not in the
 * request.
 */
export function signatureBase({ components, inner }: SentSignature, request: SignedRequest): string | undefined {
  const lines: string[] = []
  const seen = new Set<string>()
  for (const component of components) {
    const [name, parameters] = component
    if (typeof name !== 'string') return undefined
    const identifier = serializeItem(component)
    const value = name.startsWith('@') ? derived(name, parameters, request) : covered(name, parameters, request)
    if (value === undefined || seen.has(identifier)) return undefined
    seen.add(identifier)
    lines.push(`${identifier}: ${value}`)
  }
  lines.push(`"@signature-params": ${serializeInnerList(inner)}`)
  return lines.join('\n')
}

/** Derived components (RFC 9421 section 2.2); but for the name of a query parameter none is known here with parameters. */
function derived(name: string, parameters: Parameters, request: SignedRequest): string | undefined {
  if (name === '@query-param') return request.target && queryParameter(request.target, parameters)
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
    case '@path':
      return request.target && (request.pathWithQuery ? request.target : request.target.split('?')[0] || '/')
    case '@query':
      return request.target?.includes('?') ? request.target.slice(request.target.indexOf('?')) : '?'
    case '@target-uri': {
      const scheme = schemeOf(request)
      const authority = authorityOf(request)
      return scheme && authority && request.target && `${scheme}://${authority}${request.target}`
    }
    default:
      return undefined
  }
}

/** A header field, whole, strictly or one member of it; other parameters change what is covered and are not known. */
function covered(name: string, parameters: Parameters, { fields }: SignedRequest): string | undefined {
  const value = fieldValue(fields, name)
  if (value === undefined || name !== name.toLowerCase()) return undefined
  if (parameters.size === 0) return value
  if (parameters.size === 1 && parameters.get('sf') === true) return strictForm(name, value)
  const key = parameters.get('key')
  if (parameters.size !== 1 || typeof key !== 'string') return undefined
  const member = dictionaryOf(value)?.get(key)
  if (member === undefined) return undefined
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member)
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' }

/**
 * RFC 9421 section 2.2.3: lower case, without the default port. A proxy that keeps Host passes X-Forwarded-Host of a client
 * on as it is, so no header is believed that is not named (D305).
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

function schemeOf({ fields, scheme, trusted }: SignedRequest): string | undefined {
  const forwarded = trusted ? fieldValue(fields, 'x-forwarded-proto') : undefined
  return forwarded ?? (scheme === 'unknown' ? undefined : scheme)
}

function dictionaryOf(text: string): Dictionary | undefined {
  return attempt(() => parseDictionary(text))
}

function isInnerList(member: Item | InnerList): member is InnerList {
  return Array.isArray(member[0])
}

function attempt<Result>(parse: () => Result): Result | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
