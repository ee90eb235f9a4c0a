import { createHash } from 'node:crypto'
import { carriesForwarding } from '../../address/forwarding.ts'
import type { Crawler } from '../../crawler/catalogue.ts'
import type { SignatureFinding } from './finding.ts'
import { type AgentKey, ALGORITHMS, isSignedBy } from './key.ts'
import { fieldValue, type SentSignature, type SignedRequest } from './message.ts'
import { mayHideHost, signatureBase } from './signature-base.ts'

/** A signer's clock may be ahead by this much, in seconds. */
export const SKEW_S = 30
/** A signature may be valid for at most this long, in seconds. */
export const LONGEST_LIFE_S = 24 * 3600

/** Limits the components of a signature: agents cover a few, and each is written for the base. */
export const MAX_COMPONENTS = 64

/** Describes the signer, as far as it is known. */
export interface About {
  readonly agent: string
  readonly keyId: string
  readonly crawler?: Crawler | undefined
}

/** Returns the fault of a signature by this key; `undefined` where it is valid. */
export function faultWithKey(
  key: AgentKey,
  sent: SentSignature,
  request: SignedRequest,
  about: About,
  now: number,
): SignatureFinding | undefined {
  if (now < (key.notBefore ?? 0) || now >= (key.notAfter ?? Number.POSITIVE_INFINITY)) {
    return { ...invalid('the key is not valid now'), ...about }
  }
  const algorithm = sent.parameters.get('alg')
  if (algorithm !== undefined && algorithm !== key.algorithm) {
    return { ...invalid('the key is not for this algorithm'), ...about }
  }
  const base = signatureBase(sent, request)
  if (base === undefined) return unverified(about, 'the request lacks a signed component')
  if (isSignedBy(key, base, sent.signature)) return undefined
  // A proxy that is not configured may have changed the signed parts, which is no forgery.
  const hidden = mayHideHost(request)
  const forged = !hidden && !isBehindUnknownProxy(request)
  const why = hidden ? '. If a proxy changes Host, set webBotAuth.authorityHeader' : ''
  return { ...invalid(`it does not match the key of ${about.agent}${why}`), ...about, forged }
}

/** Uses up a nonce, as a replay memory does. */
type SeeNonce = (id: string, until: number) => 'new' | 'seen' | 'full'

/** Returns the finding about a signature by the right key, unless its nonce served before. `see` is absent where no nonce is used up. */
export function proven(
  { parameters, components }: SentSignature,
  about: About,
  see: SeeNonce | undefined,
): SignatureFinding {
  const nonce = parameters.get('nonce')
  const until = Number(parameters.get('expires')) * 1000
  const seen = typeof nonce === 'string' ? see?.(nonceId(about.keyId, nonce), until) : undefined
  if (seen === 'seen') return { ...invalid('its nonce was used before'), ...about }
  // As verified, any number of copies could pass.
  if (seen === 'full') return unverified(about, `${about.agent} sent more nonces than the replay memory holds`)
  const names = new Set(components.map(([name]) => name))
  const bound = names.has('@target-uri') || (names.has('@path') && names.has('@method'))
  return {
    outcome: 'verified',
    ...about,
    forged: false,
    replay: seen === 'new' ? 'checked' : 'unchecked',
    replayable: !bound,
    detail: `Signed by ${about.crawler?.name ?? about.agent}, with a key of ${about.agent}.`,
  }
}

/** Shortens a nonce of any length: the memory holds a hundred thousand of them. */
function nonceId(keyId: string, nonce: string): string {
  return createHash('sha256').update(`${keyId} ${nonce}`).digest('base64url')
}

export function invalid(why: string): SignatureFinding {
  return { outcome: 'invalid', forged: false, detail: `The signature is not valid: ${why}.` }
}

export function unverified(about: About, why: string): SignatureFinding {
  return { outcome: 'unverified', ...about, forged: false, detail: `The signature could not be verified: ${why}.` }
}

/** Returns the fault in the parameters and the coverage of a signature, before any key is looked up. */
export function findFault(sent: SentSignature, now: number): string | undefined {
  const { parameters, components } = sent
  const created = parameters.get('created')
  const expires = parameters.get('expires')
  if (typeof created !== 'number' || typeof expires !== 'number') return 'created or expires is missing'
  if (typeof parameters.get('keyid') !== 'string') return 'keyid is missing'
  if (created > now + SKEW_S) return 'its creation time is in the future'
  if (expires <= now) return 'it has expired'
  if (expires - created > LONGEST_LIFE_S) return 'it is valid for more than a day'
  const algorithm = parameters.get('alg')
  if (algorithm !== undefined && !ALGORITHMS.some((one) => one === algorithm)) return 'its algorithm is not accepted'
  if (components.length > MAX_COMPONENTS) return `it covers more than ${MAX_COMPONENTS} components`
  const covers = (wanted: string) => components.some(([name]) => name === wanted)
  return covers('@authority') || covers('@target-uri') ? undefined : 'it covers neither @authority nor @target-uri'
}

/** Proxies write these fields beside those that name the client. */
const PROXY_FIELDS = ['via', 'x-forwarded-host', 'x-forwarded-proto']

function isBehindUnknownProxy({ fields, trusted }: SignedRequest): boolean {
  if (trusted === true) return false
  return carriesForwarding(fields) || PROXY_FIELDS.some((name) => fieldValue(fields, name) !== undefined)
}
