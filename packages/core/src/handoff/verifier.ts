import { createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import { listValues } from '../address/forwarding.ts'
import { isInnerList, MAX_BYTES, parseFields, type SentSignature } from '../agent/signature/message.ts'
import { signatureBase } from '../agent/signature/signature-base.ts'
import { SallyportError } from '../errors.ts'
import type { Clock } from '../ports/index.ts'
import { type HandoffVerifyKey, verifyingKey } from './keys.ts'
import { coveredNames, HANDOFF_FIELD, HANDOFF_TAG, HANDOFF_VERSION, type HandedRequest } from './signer.ts'

export interface HandoffOptions {
  /** Lists the accepted keys: during an exchange, the old one and the new one. */
  readonly keys: readonly HandoffVerifyKey[]
  /** Sets the greatest age of a signature in seconds; default 60. Signatures are not remembered, because processes share no memory. */
  readonly maxAge?: number | undefined
}

/** Tells whether a request came through the gate. */
export type HandoffCheck =
  | {
      readonly verified: true
      readonly keyId: string
      /** The gate signed the request at this time, in seconds since 1970. */
      readonly created: number
      /** 1: a gate of an earlier build signed, and the Host is not covered; accepted until 0.3. */
      readonly version: 1 | 2
    }
  | { readonly verified: false; readonly fault: string }

const MAX_AGE_S = 60
/** The gate's clock may be ahead by this much. */
const SKEW_S = 5

/** Checks that requests came through the gate, as the counterpart of `createHandoffSigner`. Throws `invalid_config` without keys, or where one is unusable. */
export function createHandoffVerifier({ keys, maxAge = MAX_AGE_S }: HandoffOptions, clock: Clock) {
  if (keys.length === 0) throw new SallyportError('invalid_config', 'A hand-off cannot be checked without keys.')
  const known = new Map(keys.map((key) => [key.id, { algorithm: key.algorithm, key: verifyingKey(key) }]))

  function findFault(request: HandedRequest, sent: Sent): string | undefined {
    const { parameters, components } = sent
    if (parameters.get('tag') !== HANDOFF_TAG) return 'the signature is for another purpose'
    const key = known.get(String(parameters.get('keyid')))
    // The key sets the algorithm, whatever the signature says (RFC 9421 section 7.3.6).
    if (key === undefined || (parameters.get('alg') ?? key.algorithm) !== key.algorithm) return 'the key is unknown'
    const age = clock.now() / 1000 - readCreated(sent)
    if (!(age >= -SKEW_S && age <= maxAge)) return 'the signature is too old, or from the future'
    const covered = new Set(components.map(([name, { size }]) => (size === 0 ? name : '')))
    const wanted = ['@method', '@request-target', ...coveredNames(request.fields)]
    const missing = wanted.find((name) => !covered.has(name) && !(name === 'host' && readVersion(sent) === 1))
    if (missing !== undefined) return `${missing} is not signed`
    const base = signatureBase(sent, request)
    if (base === undefined) return 'a signed component is missing from the request'
    return isSigned(base, sent.signature, key.key) ? undefined : 'the signature does not match the request'
  }

  return {
    /** Never throws. */
    check(request: HandedRequest): HandoffCheck {
      const sent = readSent(request.fields)
      if ('fault' in sent) return { verified: false, fault: sent.fault }
      const fault = findFault(request, sent)
      if (fault !== undefined) return { verified: false, fault }
      return {
        verified: true,
        keyId: String(sent.parameters.get('keyid')),
        created: readCreated(sent),
        version: readVersion(sent),
      }
    },
  }
}

type Sent = Omit<SentSignature, 'label'>

function readSent(fields: readonly string[]): Sent | { readonly fault: string } {
  const [value, more] = listValues(fields, HANDOFF_FIELD)
  if (value === undefined) return { fault: `${HANDOFF_FIELD} is missing` }
  if (more !== undefined) return { fault: `there is more than one ${HANDOFF_FIELD}` }
  const members = value.length > MAX_BYTES ? undefined : parseFields(value)
  const inner = members?.get('input')
  const signature = members?.get('signature')?.[0]
  if (inner === undefined || !isInnerList(inner) || !(signature instanceof ArrayBuffer) || members?.size !== 2) {
    return { fault: `${HANDOFF_FIELD} is malformed` }
  }
  const [components, parameters] = inner
  return { components, parameters, inner, signature: new Uint8Array(signature) }
}

function readCreated({ parameters }: Sent): number {
  const created = parameters.get('created')
  return typeof created === 'number' ? created : Number.NaN
}

/** The signature covers the version: no client can turn version 2 into 1, or leave the Host out. */
function readVersion({ parameters }: Sent): 1 | 2 {
  return parameters.get('v') === undefined ? 1 : HANDOFF_VERSION
}

function isSigned(base: string, signature: Uint8Array, key: KeyObject): boolean {
  const data = Buffer.from(base, 'latin1')
  if (key.type !== 'secret') return verify(null, data, key, signature)
  const expected = createHmac('sha256', key).update(data).digest()
  return expected.length === signature.length && timingSafeEqual(expected, signature)
}
