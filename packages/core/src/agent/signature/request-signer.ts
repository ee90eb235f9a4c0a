import type { KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { SallyportError } from '../../errors.ts'
import { isRecord } from '../../is-record.ts'
import { parseUrl } from '../../parse-url.ts'
import { fieldValue } from './message.ts'
import { createSigner } from './signer.ts'
import { readWish, type SignatureWish } from './wish.ts'

/** Configures how a program signs its requests. */
export interface SignerOptions {
  /** A private Ed25519 key: a `KeyObject`, a JWK, or the JWK Set that `sallyport keys agent` writes. */
  readonly key: KeyObject | object
  /** The https origin that publishes the public key; default: the origin in the JWK Set. */
  readonly agent?: string | undefined
  /** `asked` signs only for origins that asked by `Accept-Signature`; default `always`. */
  readonly when?: 'always' | 'asked' | undefined
  /** Says how long a signature is valid, in seconds, 1 to 60; default 60. */
  readonly seconds?: number | undefined
  /** Selects the current form of `Signature-Agent` or the first drafts' text, which some verifiers still read; default `dictionary`. */
  readonly form?: 'dictionary' | 'string' | undefined
  /** Adds a nonce to each signature, so that it is good for one request; default true. */
  readonly nonce?: boolean | undefined
}

/** A request that undici, node:http or another client sends. */
export interface RequestParts {
  /** A request without it is a GET. */
  readonly method?: string | undefined
  readonly url: string | URL
  /** Needed where a server requires the signature to cover a field, and for a `Host` other than that of the URL. */
  readonly headers?: Readonly<Record<string, string | number | readonly string[] | undefined>> | undefined
}

/** Signs the requests of a program (RFC 9421, draft-ietf-webbotauth-httpsig-protocol). */
export interface RequestSigner {
  /**
   * Returns the request with its signature; unchanged where `when` is `asked` and its origin did not ask. A signature is valid for one
   * address, so redirects are not followed: sign a request for the new address. Rejects with `cannot_sign`.
   */
  sign(request: Request): Promise<Request>
  /** Returns the headers to add: `Signature-Agent`, `Signature-Input` and `Signature`, or none. Throws `cannot_sign`. */
  signFields(parts: RequestParts): Readonly<Record<string, string>>
  /**
   * Reports whether a response's `Accept-Signature` asks for a signature that this signer makes. If so, the next signature for that origin
   * complies, so send the request again. The signer remembers the last 1,000 origins that asked, and uses their nonces once.
   */
  asks(url: string | URL, acceptSignature: string | null | undefined): boolean
}

/** Has the clock, in milliseconds since the epoch, and makes random bytes. */
export interface SignerPorts {
  readonly now: () => number
  readonly random: (count: number) => Buffer
}

const MAX_ORIGINS = 1_000
const MAX_SECONDS = 60
/** A verifier's clock may be behind. */
const EARLIER_S = 5
/** draft-meunier-web-bot-auth-architecture recommends 64. */
const NONCE_BYTES = 64

/** Creates the signer of a program. Throws `invalid_config`. */
export function createRequestSigner(options: SignerOptions, { now, random }: SignerPorts): RequestSigner {
  const { key, when = 'always', seconds = MAX_SECONDS, nonce: withNonce = true } = options
  const isText = options.form === 'string'
  const agent = readAgent(options.agent ?? (isRecord(key) ? key['agent'] : undefined))
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_SECONDS) {
    throw new SallyportError('invalid_config', `seconds: ${seconds} is not a whole number from 1 to ${MAX_SECONDS}.`)
  }
  const signer = createSigner(key)
  const keyIds = signer.directory.keys.map(({ kid }) => String(kid))
  const wishes = new LRUCache<string, SignatureWish>({ max: MAX_ORIGINS })

  function signFields({ method = 'GET', url: address, headers = {} }: RequestParts): Readonly<Record<string, string>> {
    const url = readUrl(address)
    const wish = wishes.get(url.origin)
    if (wish === undefined && when === 'asked') return {}
    const { label = 'sig1', nonce } = wish ?? {}
    if (nonce !== undefined) wishes.set(url.origin, { ...(wish as SignatureWish), nonce: undefined })
    const fields = listFields(headers)
    if (fieldValue(fields, 'signature-input') !== undefined) {
      throw new SallyportError('cannot_sign', 'The request is signed already.')
    }
    if (fieldValue(fields, 'host') === undefined) fields.push('Host', url.host)
    const signatureAgent = isText ? `"${agent}"` : `${label}="${agent}"`
    const created = Math.floor(now() / 1000) - EARLIER_S
    fields.push('Signature-Agent', signatureAgent)
    const scheme = url.protocol === 'https:' ? 'https' : 'http'
    const [, input = '', , signature = ''] = signer.sign({
      request: { method, target: url.pathname + url.search, scheme, fields },
      label,
      components: listComponents(url, isText ? '"signature-agent"' : `"signature-agent";key="${label}"`, wish),
      created,
      expires: created + seconds,
      nonce: nonce ?? (withNonce ? random(NONCE_BYTES).toString('base64') : undefined),
    })
    return { 'Signature-Agent': signatureAgent, 'Signature-Input': input, Signature: signature }
  }

  return {
    signFields,
    async sign(request) {
      const { method, url, headers, redirect } = request
      const signed = Object.entries(signFields({ method, url, headers: Object.fromEntries(headers) }))
      if (signed.length === 0) return request
      const copy = new Request(request, { redirect: redirect === 'follow' ? 'manual' : redirect })
      for (const [name, value] of signed) copy.headers.set(name, value)
      return copy
    },
    asks(url, acceptSignature) {
      const wish = readWish(acceptSignature ?? '', keyIds)
      if (wish !== undefined) wishes.set(readUrl(url).origin, wish)
      return wish !== undefined
    },
  }
}

/** Joins the wanted components and ours: another request could reuse a signature that covers neither the method nor the address. */
function listComponents(url: URL, agent: string, wish: SignatureWish | undefined): string {
  const own = ['"@authority"', '"@method"', '"@path"', ...(url.search === '' ? [] : ['"@query"'])]
  const wanted = wish?.components ?? []
  const namesAgent = wanted.some((one) => one.startsWith('"signature-agent"'))
  const all = [...wanted, ...own, ...(namesAgent ? [] : [agent])]
  return [...new Set(all)].join(' ')
}

function listFields(headers: NonNullable<RequestParts['headers']>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : value === undefined ? [] : [value]
    return values.flatMap((one) => [name, String(one)])
  })
}

function readUrl(text: string | URL): URL {
  const url = parseUrl(String(text))
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url
  throw new SallyportError('cannot_sign', `"${text}" is not an http URL.`)
}

/** Returns the origin at which an agent publishes its keys. Throws `invalid_config`. */
export function readAgent(text: unknown): string {
  const url = typeof text === 'string' ? parseUrl(text) : undefined
  if (url?.protocol === 'https:' && url.href === `${url.origin}/`) return url.origin
  throw new SallyportError('invalid_config', `agent: "${text}" is not an https origin such as https://bot.example.`)
}
