import type { Address } from '../address/address.ts'

/** Milliseconds since the epoch; never goes back within a process. */
export interface Clock {
  now(): number
}

/** "Ran and found nothing" and "could not run" are different results: only `absent` says that the name has no address. */
export type NameAnswer =
  | { readonly state: 'found'; readonly addresses: readonly Address[] }
  | { readonly state: 'absent' }
  | { readonly state: 'failed'; readonly reason: string }

/** The reverse names of an address. Only `absent` says that it has none. */
export type ReverseAnswer =
  | { readonly state: 'found'; readonly names: readonly string[] }
  | { readonly state: 'absent' }
  | { readonly state: 'failed'; readonly reason: string }

/** Names and addresses, by DNS alone: never a hosts file, a search domain or a numeric form. Never rejects. */
export interface Dns {
  /** `family`: ask for addresses of this family alone; absent: for both. */
  resolve(name: string, family?: 4 | 6): Promise<NameAnswer>
  /** The PTR records of an address, unchecked: the holder of the address can write anything into them. */
  resolvePtr(address: Address): Promise<ReverseAnswer>
}

/** One outbound request: GET, or POST where it brings a body. */
export interface FetchRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Text that is posted, with its media type; then no redirect is followed. */
  readonly body?: { readonly type: string; readonly text: string } | undefined
  /** Absent: POST with a body, else GET. */
  readonly method?: 'DELETE' | undefined
  /** Most bytes of the body, on the wire and after decompression. */
  readonly maxBytes: number
  /** For all of it: names, connection, headers, body and redirects. */
  readonly timeoutMs: number
  /** How many redirects are followed, each target checked as the first; default 0. One that is not followed is an answer. */
  readonly redirects?: number | undefined
  /** Permits plain http; default https alone, and either towards the addresses of `net.allowPrivate`. */
  readonly allowHttp?: boolean | undefined
  /** Ends it earlier; the answer, or its body, has then failed. */
  readonly signal?: AbortSignal | undefined
}

/**
 * `answered` is any HTTP status. `headers` have lower-case names. `body` is read at most once and rejects when a bound
 * is broken; it holds a socket until it is read to the end, dropped (`dropBody`) or past the deadline.
 */
export type FetchAnswer =
  | {
      readonly state: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: AsyncIterable<Uint8Array>
    }
  | { readonly state: 'failed'; readonly reason: string }

/** HTTP to public addresses only. Never rejects. */
export interface Fetch {
  readonly fetch: (request: FetchRequest) => Promise<FetchAnswer>
}

/** One question to a WHOIS server (RFC 3912). */
export interface Port43Question {
  readonly host: string
  readonly port: number
  /** The line that is sent, without its end: printable ASCII. */
  readonly question: string
  /** For all of it: name, connection and answer. */
  readonly timeoutMs: number
}

export type Port43Answer =
  | { readonly state: 'answered'; readonly text: string }
  | { readonly state: 'failed'; readonly reason: string }

/** WHOIS over TCP, to public addresses only. Never rejects. */
export interface Port43 {
  ask(question: Port43Question): Promise<Port43Answer>
}
