import { table } from './markdown.ts'
import { median, medians } from './results.ts'

const HOP = 'The hop, by wrk with 64 connections'
const OVER_TLS = 'Over TLS, by processor time'

const proxy = (what: string) => median('proxy', HOP, 'Sallyport, everything on', what)
const overTls = (name: string) => median('proxy', OVER_TLS, name, 'Sallyport')
const keyedCalls = (what: string) => medians('limits', 'A keyed, metered call as accounts grow', 'Sallyport', what)

/** The microseconds that a decision adds to a request in a server. */
function addedIn(host: string): number {
  const at = (what: string) => median('frameworks', 'A request by processor time', `${host}, Sallyport`, what)
  return at('with it') - at('a request, plain')
}

/** Two digits of it: 144 is 140, 28,512 is 29,000. */
function about(number: number): string {
  return Number(number.toPrecision(2)).toLocaleString('en')
}

const bench = (name: string) => `\`npm run bench -- ${name}\``

/** Writes the inputs of a calculation of machines, from the results of the benches. */
export function scalingInputs(): string {
  const [few = 0, ...many] = keyedCalls('one call at a time')
  const together = keyedCalls('32 at a time')
  const hop = proxy('100 B')
  return table(
    ['name', 'about', 'measured by'],
    [
      [
        'P, a forwarded request of 100 B, everything on',
        `${about(hop)} µs of a core; 100 kB: ${about(proxy('100 kB') - hop)} µs more`,
        bench('proxy'),
      ],
      [
        'the same over TLS',
        `${about(overTls('a request of HTTP/1.1, 100 B'))} µs; HTTP/2: ${about(overTls('a request of HTTP/2, 100 B'))} µs`,
        bench('proxy'),
      ],
      ['T, a TLS handshake', `${about(overTls('a handshake'))} µs`, bench('proxy')],
      [
        'I, a decision in your own server',
        `${about(addedIn('`node:http`'))} µs in node:http, ${about(addedIn('Express'))} in Express`,
        bench('frameworks'),
      ],
      [
        'K, a keyed call of `/v1`',
        `up to ${about(Math.max(...many))} µs, ${about(Math.max(...together))} where 32 come together; ${about(few)} for an account that just called`,
        bench('limits'),
      ],
      ['B, a record in PostgreSQL', '1,000 B', '`pg_database_size`'],
      ['R, commands of one Redis', '100,000/s; a counted request is some four', '`redis-benchmark`'],
      ['C, a client in Redis, each limit', '130 B', '`MEMORY USAGE`'],
      ['M, memory of a worker', `${about(proxy('resident'))} MB`, bench('proxy')],
      ['U, how full a core may be', '0.5', 'peaks, reloads, a failing machine'],
    ],
  )
}

/** Cores for so many requests a second that cost so many microseconds each. */
const cores = (rate: number, cost: number) => (rate * cost) / 1e6 / 0.5

const machines = (needed: number) => Math.ceil(needed / 8)

const CLIENTS = '1.3 GB for 10 million clients a limit'
const ATTESTED = '0.1 % attested: 8.6 GB a day'

export function scalingSizes(): string {
  const hop = proxy('100 B')
  const own = [addedIn('`node:http`'), addedIn('Express')].map((cost) => Math.round(cores(1e5, cost)))
  const large = cores(1e5, hop)
  return table(
    ['part', '1,000 requests a second', '100,000', '10,000,000'],
    [
      [
        'proxy',
        `${cores(1e3, overTls('a request of HTTP/1.1, 100 B') + overTls('a handshake') / 10).toFixed(1)} core with TLS, a handshake for ten requests: one machine, or two`,
        `${Math.round(large)} cores: ${machines(large)} machines of 8; over TLS, by HTTP/2, ${Math.round(cores(1e5, overTls('a request of HTTP/2, 100 B')))}`,
        `a CDN with 95 % hits, named in \`trustProxy\`, leaves 500,000: ${machines(5 * large)} machines in three regions`,
      ],
      ['in your own servers', '', `${own.join(' to ')} cores in all`, ''],
      ['Redis', 'none', `a tenth counted: 40,000 commands a second, one Redis; ${CLIENTS}`, 'one a region'],
      ['PostgreSQL', 'none: SQLite', `1 % keyed: some hundred writes a second; ${ATTESTED}`, 'one a region'],
    ],
  )
}
