/** The part of autocannon 9 that the benches use; the package has no types of its own. */
declare module 'autocannon' {
  export interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds; not looked at where an amount of requests is given. */
    readonly duration?: number
    readonly amount?: number
    /** Seconds that an answer may take. */
    readonly timeout?: number
    readonly requests?: object[]
  }
  export interface Result {
    readonly requests: { readonly average: number; readonly total: number }
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number }
    /** Seconds. */
    readonly duration: number
    readonly non2xx: number
    readonly errors: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
