import { errorText, isRecord } from '@sallyport/core'
import { readCertificates } from '@sallyport/engine/files'
import { type Dispatcher, EnvHttpProxyAgent, request } from 'undici'

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory'

/** Limits what an authority may use; times are in milliseconds. */
export const BOUNDS = {
  /** Limits one answer, from the connection to its last byte. */
  answerMs: 30_000,
  answerBytes: 1_048_576,
  /** Limits the requests of one order. */
  requests: 2_000,
}

export type AuthorityBounds = Readonly<typeof BOUNDS>

/** An authority may ask so many times in a row for another nonce (RFC 8555 6.5): the library then asks again. */
const MAX_NONCES = 5
const MAX_SENTENCE = 300

/** Says in a sentence why an authority issues no certificate. */
export class AuthorityFault extends Error {
  /** In milliseconds; absent: the authority does not say when to retry. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** An answer as acme-client reads it: field names in lower case, JSON as its value, other text unchanged. */
interface AuthorityAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly data: unknown
}

interface AuthorityRequest {
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly data?: unknown
}

interface AuthorityPlace {
  /** URL of the directory; absent: Let's Encrypt. */
  readonly directory?: string | undefined
  /** File in PEM of the authorities that issued the directory's own certificate; absent: Node's authorities. */
  readonly ca?: string | undefined
  readonly signal: AbortSignal
}

export type Authority = Awaited<ReturnType<typeof openAuthority>>

/**
 * Opens a client of an authority, which sends requests within bounds; every failure is an `AuthorityFault`. It respects HTTPS_PROXY,
 * HTTP_PROXY and NO_PROXY of the environment.
 */
export async function openAuthority({ directory = LETS_ENCRYPT, ca, signal }: AuthorityPlace, bounds: AuthorityBounds) {
  const dispatcher = openDispatcher(ca === undefined ? {} : readTrusted(ca), bounds)
  let left = bounds.requests
  let retryAfterMs: number | undefined
  let nonces = 0

  const askOnce = async (
    url: string,
    method: string,
    { headers, data }: AuthorityRequest,
  ): Promise<AuthorityAnswer> => {
    if (left-- === 0) throw new AuthorityFault(`the order needs more than ${bounds.requests} requests to the CA`)
    const late = AbortSignal.timeout(bounds.answerMs)
    try {
      const answer = await request(url, {
        dispatcher,
        method: method.toUpperCase() as Dispatcher.HttpMethod,
        signal: AbortSignal.any([signal, late]),
        headers: { 'content-type': 'application/jose+json', 'user-agent': 'sallyport', ...headers },
        body: data === undefined ? null : JSON.stringify(data),
      })
      const text = await readText(answer.body, bounds.answerBytes)
      const fields = Object.entries(answer.headers).map(
        ([name, value]) => [name, String([value].flat()[0] ?? '')] as const,
      )
      return { status: answer.statusCode, headers: Object.fromEntries(fields), data: parseData(text) }
    } catch (error) {
      if (signal.aborted || error instanceof AuthorityFault) throw error
      const { host } = new URL(url)
      if (late.aborted) throw new AuthorityFault(`${host} did not respond within ${bounds.answerMs / 1_000} s`)
      throw new AuthorityFault(`${host} cannot be reached (${findCode(error)})`)
    }
  }
  return {
    directory,
    /** Returns the wait that the last answer asked for, in milliseconds. */
    get retryAfterMs(): number | undefined {
      return retryAfterMs
    },
    async ask(url: string, method: string, asked: AuthorityRequest = {}): Promise<AuthorityAnswer> {
      const answer = await askOnce(readUrl(url, directory), method, asked)
      retryAfterMs = readRetryAfter(answer)
      if (isBadNonce(answer) && nonces++ < MAX_NONCES) return answer
      if (asked.data !== undefined) nonces = 0
      if (answer.status < 300 || answer.status > 399) return requireAccepted(answer, url)
      throw new AuthorityFault(
        `${url} redirects (${answer.status}). Set tls.acme.directory to the URL of the CA itself`,
      )
    },
    close: () => dispatcher.destroy(),
  }
}

/** Reads the file, which must not be empty: Node would then trust its own authorities. */
function readTrusted(file: string): { readonly ca: string } {
  try {
    return { ca: readCertificates(file) }
  } catch (error) {
    throw new AuthorityFault(`tls.acme.ca: ${file} ${(error as Error).message}`)
  }
}

function openDispatcher(trust: { readonly ca?: string | undefined }, { answerMs }: AuthorityBounds): Dispatcher {
  try {
    const connect = { ...trust, timeout: answerMs }
    return new EnvHttpProxyAgent({ connect, requestTls: trust, headersTimeout: 0, bodyTimeout: 0 })
  } catch {
    throw new AuthorityFault('HTTPS_PROXY or HTTP_PROXY is not the URL of a proxy')
  }
}

/** Reads an http URL; where the naming URL is https, the named URL must be too. */
function readUrl(text: unknown, from: string): string {
  if (typeof text !== 'string' || !/^https?:\/\/./i.test(text) || !URL.canParse(text)) {
    throw new AuthorityFault('the CA sent a URL that is not valid')
  }
  if (/^https:/i.test(from) && !/^https:/i.test(text)) {
    throw new AuthorityFault('the CA uses https, but sent a URL without TLS')
  }
  return text
}

async function readText(body: AsyncIterable<Buffer>, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > limit) throw new AuthorityFault(`the response of the CA is larger than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parseData(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns an answer with which a client can go on; throws for any other. */
function requireAccepted(answer: AuthorityAnswer, url: string): AuthorityAnswer {
  const { status, data } = answer
  if (status >= 400) {
    const { type, detail } = findProblem(data)
    const kind = type === '' ? `${status}` : `${status} ${type}`
    throw new AuthorityFault(`the CA rejected the request (${kind})${detail}`, readRetryAfter(answer))
  }
  if (isRecord(data) || (typeof data === 'string' && /^\s*-----BEGIN CERTIFICATE-----/.test(data))) return answer
  throw new AuthorityFault(`the response of ${url} is not one of an ACME server: ${JSON.stringify(data).slice(0, 60)}`)
}

function isBadNonce({ status, data }: AuthorityAnswer): boolean {
  return status === 400 && findProblem(data).type === 'badNonce'
}

/** Returns the last word of a problem's type (RFC 8555 6.7), and its detail after a colon; empty where they are missing. */
function findProblem(data: unknown): { readonly type: string; readonly detail: string } {
  const { type, detail } = isRecord(data) ? data : {}
  return {
    type: typeof type === 'string' ? type.replace(/^.*:/, '') : '',
    detail: typeof detail === 'string' ? `: ${detail}` : '',
  }
}

/** Reads a wait in seconds or as a date (RFC 9110 10.2.3). */
function readRetryAfter({ headers }: AuthorityAnswer): number | undefined {
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return wait > 0 ? wait : undefined
}

function findCode(error: unknown): string {
  const causes = error instanceof AggregateError ? error.errors : [error]
  const [first] = causes as readonly (Error & { readonly code?: unknown })[]
  return String(first?.code ?? first?.message ?? error)
}

/** Describes an error in one line without control characters. */
export function describeFault(error: unknown): string {
  // The answer has an unknown shape.
  if (error instanceof TypeError) return 'the response of the CA cannot be read'
  const text = errorText(error)
  return text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, MAX_SENTENCE)
}
