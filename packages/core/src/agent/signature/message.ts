import {
  type Dictionary,
  type InnerList,
  type Item,
  type Parameters,
  parseDictionary,
  parseItem,
} from 'structured-headers'
import { isNamed } from '../../address/forwarding.ts'

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

/** Reads a dictionary (RFC 9651); `undefined` for what is none. */
export function dictionaryOf(text: string): Dictionary | undefined {
  return attempt(() => parseDictionary(text))
}

export function isInnerList(member: Item | InnerList): member is InnerList {
  return Array.isArray(member[0])
}

function attempt<Result>(parse: () => Result): Result | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
