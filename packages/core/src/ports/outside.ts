import type { Address } from '../address/address.ts'

/** Tells the time in milliseconds since the epoch; never goes back within a process. */
export interface Clock {
  now(): number
}

/** "Ran and found nothing" and "could not run" are different results: only `absent` says that the name has no address. */
export type NameAnswer = { readonly state: 'found'; readonly addresses: readonly Address[] } | NotFound

/** Holds the reverse names of an address. Only `absent` says that it has none. */
export type ReverseAnswer = { readonly state: 'found'; readonly names: readonly string[] } | NotFound

type NotFound = { readonly state: 'absent' } | { readonly state: 'failed'; readonly reason: string }

/** Resolves names and addresses by DNS alone: never by a hosts file, a search domain or a numeric form. Never rejects. */
export interface Dns {
  /** `family` limits the query to addresses of this family; by default it asks for both. */
  resolve(name: string, family?: 4 | 6): Promise<NameAnswer>
  /** Returns the PTR records of an address, unchecked: the holder of the address can write anything into them. */
  resolvePtr(address: Address): Promise<ReverseAnswer>
  /** Returns the servers that accept mail for a name. Where the method is absent, mail is not checked. */
  resolveMx?(name: string): Promise<ReverseAnswer>
}

/** Describes one outbound request: GET, or POST where it has a body. */
export interface FetchRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Text or bytes to post, with their media type; then no redirect is followed. */
  readonly body?: ({ readonly type: string } & ({ readonly text: string } | { readonly bytes: Uint8Array })) | undefined
  /** Defaults to POST with a body, else GET. */
  readonly method?: 'DELETE' | undefined
  /** Bounds the body in bytes, on the wire and after decompression. */
  readonly maxBytes: number
  /** Bounds the whole request: names, connection, headers, body and redirects. */
  readonly timeoutMs: number
  /** Limits the redirects that are followed, each target checked as the first; default 0. Others are returned as the answer. */
  readonly redirects?: number | undefined
  /** Permits plain http; default https alone, and either towards the addresses of `net.allowPrivate`. */
  readonly allowHttp?: boolean | undefined
  /** Ends the request earlier; the answer, or its body, has then failed. */
  readonly signal?: AbortSignal | undefined
}

/**
 * `answered` has any HTTP status. `headers` have lower-case names. `body` is read at most once and rejects when a bound is exceeded; it
 * holds a socket until it is read to the end, dropped (`dropBody`) or past the deadline.
 */
export type FetchAnswer<Body = AsyncIterable<Uint8Array>> =
  | {
      readonly state: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Body
    }
  | { readonly state: 'failed'; readonly reason: string }

/** Sends HTTP requests to public addresses only. Never rejects. */
export interface Fetch {
  readonly fetch: (request: FetchRequest) => Promise<FetchAnswer>
}

/** Asks a WHOIS server one question (RFC 3912). */
export interface Port43Question {
  readonly host: string
  readonly port: number
  /** The line to send, without its end: printable ASCII. */
  readonly question: string
  /** Bounds the whole exchange: name, connection and answer. */
  readonly timeoutMs: number
}

export type Port43Answer =
  | { readonly state: 'answered'; readonly text: string }
  | { readonly state: 'failed'; readonly reason: string }

/** Asks WHOIS servers over TCP, at public addresses only. Never rejects. */
export interface Port43 {
  ask(question: Port43Question): Promise<Port43Answer>
}
