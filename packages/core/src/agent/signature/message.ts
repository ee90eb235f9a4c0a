import {
  type Dictionary,
  type InnerList,
  type Item,
  type Parameters,
  parseDictionary,
  parseItem,
} from 'structured-headers'
import { listValues } from '../../address/forwarding.ts'
import { attempt } from '../../attempt.ts'

/** Describes a request as far as a signature can cover it. Absent members are unknown, so a signature that covers them does not verify. */
export interface SignedRequest {
  readonly fields: readonly string[]
  readonly method?: string | undefined
  /** The target is as received. */
  readonly target?: string | undefined
  readonly scheme?: 'http' | 'https' | 'unknown' | undefined
  /** The peer is a trusted proxy, which may name the scheme, and the host in `authorityHeader`. */
  readonly trusted?: boolean | undefined
  /** The header in which trusted proxies name the host of the client's request, in lower case; without it they keep Host. */
  readonly authorityHeader?: string | undefined
  /** The message is a response to a request for this URL, which a component with `req` covers. */
  readonly answeredTo?: URL | undefined
}

/** One labelled signature as it was sent. */
export interface SentSignature {
  readonly label: string
  readonly components: readonly Item[]
  readonly parameters: Parameters
  /** Components and parameters in the strict form that ends the base. */
  readonly inner: InnerList
  readonly signature: Uint8Array
}

/** Describes the signer, as `Signature-Agent` names it. */
export interface NamedAgent {
  readonly uri: string
  readonly type: string
}

export type SignatureAgents =
  | { readonly form: 'none' }
  /** The first drafts use a bare string. */
  | { readonly form: 'string'; readonly agent: NamedAgent }
  | { readonly form: 'dictionary'; readonly members: ReadonlyMap<string, NamedAgent> }

/** Limits the bytes of the three fields together, and the labels that are read. */
export const MAX_BYTES = 8192
const MAX_LABELS = 4

/** Joins all lines of a field (RFC 9421 section 2.1); returns `undefined` when there is none. */
export function fieldValue(fields: readonly string[], name: string): string | undefined {
  const lines = listValues(fields, name)
  return lines.length === 0 ? undefined : lines.map((line) => line.trim()).join(', ')
}

/** Holds the signatures of a message; a fault of one does not spoil the others. */
export interface ReadSignatures {
  readonly signatures: readonly SentSignature[]
  /** Says why the fields, or a label with this tag or without any, cannot be read. */
  readonly fault?: string | undefined
}

/**
 * Reads the signatures of a message that have one of these tags; a label with another tag is between other parties, whatever its faults.
 */
export function readSignatures(fields: readonly string[], tags?: readonly string[]): ReadSignatures {
  const fail = (fault: string): ReadSignatures => ({ signatures: [], fault })
  const input = fieldValue(fields, 'signature-input')
  const sent = fieldValue(fields, 'signature')
  if (input === undefined || sent === undefined) return fail('Signature or Signature-Input is missing')
  if (input.length + sent.length > MAX_BYTES) return fail(`the signature fields exceed ${MAX_BYTES} bytes`)
  const inputs = readDictionary(fields, 'signature-input')
  const values = readDictionary(fields, 'signature')
  if (inputs === undefined || values === undefined) return fail('Signature or Signature-Input is malformed')
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
    if (signatures.length === MAX_LABELS) return fail(`there are more than ${MAX_LABELS} signatures`)
    const [components, parameters] = inner
    signatures.push({ label, components, parameters, inner, signature: new Uint8Array(signature) })
  }
  return { signatures, fault }
}

/** Reads the whole field, or else each line that can be read: a line in another form spoils no other. */
function readDictionary(fields: readonly string[], name: string): Dictionary | undefined {
  const whole = parseFields(fieldValue(fields, name) ?? '')
  if (whole !== undefined) return whole
  const members = listValues(fields, name).flatMap((line) => [...(parseFields(line.trim()) ?? [])])
  return members.length === 0 ? undefined : new Map(members)
}

/**
 * Reports whether the request has a `Signature` of draft-cavage-http-signatures, which servers of the fediverse send. That protocol has no
 * `Signature-Input`, and no quotes or colons around what follows its label.
 */
export function isOldSignature(fields: readonly string[]): boolean {
  if (fieldValue(fields, 'signature-input') !== undefined) return false
  const value = fieldValue(fields, 'signature') ?? ''
  return value.includes('keyId="') && value.includes('signature="')
}

/** Reads `Signature-Agent` in both forms; returns `undefined` when it is malformed. */
export function readAgents(fields: readonly string[]): SignatureAgents | undefined {
  const value = fieldValue(fields, 'signature-agent')
  if (value === undefined) return { form: 'none' }
  if (value.length > MAX_BYTES) return undefined
  if (value.startsWith('"')) {
    const item = attempt(() => parseItem(value))
    const agent = item && readAgent(item)
    return agent && { form: 'string', agent }
  }
  const members = new Map<string, NamedAgent>()
  for (const [key, member] of parseFields(value) ?? []) {
    const agent = isInnerList(member) ? undefined : readAgent(member)
    if (agent === undefined) return undefined
    members.set(key, agent)
  }
  return members.size === 0 ? undefined : { form: 'dictionary', members }
}

function readAgent([uri, parameters]: Item): NamedAgent | undefined {
  if (typeof uri !== 'string') return undefined
  return { uri, type: String(parameters.get('type') ?? 'directory') }
}

/** Reads a dictionary (RFC 9651); returns `undefined` for any other text. */
export function parseFields(text: string): Dictionary | undefined {
  return attempt(() => parseDictionary(text))
}

export function isInnerList(member: Item | InnerList): member is InnerList {
  return Array.isArray(member[0])
}
