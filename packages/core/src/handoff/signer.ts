import { createHmac, type KeyObject, sign } from 'node:crypto'
import { fieldValue } from '../agent/signature/message.ts'
import { type HandoffAlgorithm, type HandoffKey, signingKey } from './keys.ts'

/** A forwarded request carries its signature in this field. */
export const HANDOFF_FIELD = 'sallyport-signature'
export const HANDOFF_TAG = 'sallyport-handoff'
/** The `v` of a signature: 2 covers the Host as well. A signature without `v` has version 1, which did not cover it. */
export const HANDOFF_VERSION = 2

/** Only the gate may send these names, in every spelling that some program reads as the same name. */
const VERDICT_NAME = /^sallyport[^a-z0-9]/

/** These fields name the client, its request and its site to the origin; the signature covers those that are present. */
const FORWARDED = ['host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'] as const

/** Describes a request as the gate sends it to the origin. */
export interface HandedRequest {
  readonly method: string
  /** The target is as in the request line. */
  readonly target: string
  /** Fields are name, value, name, value …; names in any case. */
  readonly fields: readonly string[]
}

/**
 * Signs each request for the origin by an HTTP message signature (RFC 9421) over the method, the target, the Host, client, its host and
 * scheme, the verdict and the time. Body and other fields are not covered. One field holds both halves of the signature, `input` and
 * `signature`, so that it never collides with a signature of the client. The first key signs; origins may still know those after it.
 * Returns `undefined` without keys. Throws `invalid_config`.
 */
export function createHandoffSigner(keys: readonly HandoffKey[]) {
  const [live] = keys.map((key) => ({ ...key, key: signingKey(key) }))
  if (live === undefined) return undefined
  const { id, key } = live
  const algorithm: HandoffAlgorithm = key.type === 'private' ? 'ed25519' : 'hmac-sha256'
  return {
    /** Returns the value of `sallyport-signature`. `now` is in milliseconds since 1970. */
    sign(request: HandedRequest, now: number): string {
      const names = coveredNames(request.fields)
      const components = ['"@method"', '"@request-target"', ...names.map((name) => `"${name}"`)].join(' ')
      const created = Math.floor(now / 1000)
      const inner = `(${components});created=${created};keyid="${id}";alg="${algorithm}";tag="${HANDOFF_TAG}";v=${HANDOFF_VERSION}`
      const lines = [`"@method": ${request.method}`, `"@request-target": ${request.target}`]
      for (const name of names) lines.push(`"${name}": ${fieldValue(request.fields, name)}`)
      lines.push(`"@signature-params": ${inner}`)
      return `input=${inner}, signature=:${signBase(lines.join('\n'), key)}:`
    },
  }
}

/** Reports whether programs may read one name as the other: CGI, PHP and others read `x_forwarded_for` as X-Forwarded-For. */
function isSpelling(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.replace(/[^a-z0-9]/g, '-') === wanted
}

/** Lists the fields of a request that a hand-off covers, in lower case, each once; the gate sends none in another spelling. */
export function coveredNames(fields: readonly string[]): readonly string[] {
  const names = new Set<string>()
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase()
    if (name !== HANDOFF_FIELD && isCovered(name)) names.add(name)
  }
  return [...names]
}

function isCovered(name: string): boolean {
  return VERDICT_NAME.test(name) || FORWARDED.some((forwarded) => isSpelling(name, forwarded))
}

function signBase(base: string, key: KeyObject): string {
  const data = Buffer.from(base, 'latin1')
  const signature = key.type === 'secret' ? createHmac('sha256', key).update(data).digest() : sign(null, data, key)
  return signature.toString('base64')
}
