import { table } from './markdown.ts'
import { median, type Place } from './results.ts'

/** A figure of a bench, and how it is said. */
interface Shown extends Place {
  readonly text: string
  /** The figure alone, or beside the peer of its row. */
  readonly of: 'value' | 'ratio'
  readonly say: (number: number) => string
}

const percent = (number: number) => `${number.toFixed(1)} %`
const microseconds = (number: number) => `${number.toFixed(2)} µs`

const GOALS = 'The goals'
const STARTED = 'A process from its start, imports too'

const left = (host: string) =>
  median({
    bench: 'frameworks',
    title: 'A request by processor time',
    row: [`${host}, Sallyport`, 'left of the bare framework'],
  })
const bareNode = () => median({ bench: 'startup', title: STARTED, row: ['`node` alone', 'resident'] })

const SHOWN: readonly Shown[] = [
  {
    text: 'browsers of people that are taken for programs, by user agent',
    bench: 'accuracy',
    title: 'Taken for a program, by user agent',
    row: ['Sallyport', 'browsers'],
    of: 'value',
    say: (number) => `${number.toFixed(2)} %`,
  },
  {
    text: 'home lines classified as such',
    bench: 'accuracy',
    title: GOALS,
    row: ['homes kept `residential_clean`', 'all feeds'],
    of: 'value',
    say: percent,
  },
  {
    text: 'anonymised verdicts that are right, with all feeds',
    bench: 'accuracy',
    title: GOALS,
    row: ['anonymising or not, precision', 'all feeds'],
    of: 'value',
    say: percent,
  },
  {
    text: 'VPN servers found as `vpn` or as machines, without any VPN feed',
    bench: 'accuracy',
    title: GOALS,
    row: ['VPN servers found as `vpn` or machines', 'without VPN feeds'],
    of: 'value',
    say: percent,
  },
  {
    text: 'a whole decision about a new visitor',
    bench: 'inspect',
    title: "A browser's request, all data, the default policy",
    row: ['`decide()`, new visitors', 'processor time'],
    of: 'value',
    say: microseconds,
  },
  {
    text: 'processor time of a 100 B request through the proxy, everything on',
    bench: 'proxy',
    title: 'The hop, by wrk with 64 connections',
    row: ['Sallyport, everything on', '100 B'],
    of: 'ratio',
    say: (times) => `${times.toFixed(1)} times that of an nginx that only forwards`,
  },
  {
    text: 'throughput kept of a bare Fastify with one small route',
    bench: 'frameworks',
    title: 'A request by processor time',
    row: ['Fastify, Sallyport', 'left of the bare framework'],
    of: 'value',
    say: (share) => `${share.toFixed(0)} %; of a bare Express ${left('Express').toFixed(0)} %`,
  },
  {
    text: 'memory of a process with Sallyport, cities among the data',
    bench: 'startup',
    title: STARTED,
    row: ['Sallyport, compiled data', 'resident'],
    of: 'value',
    say: (number) => `${number.toFixed(0)} MB; \`node\` alone ${bareNode().toFixed(0)} MB`,
  },
]

/** The figures that README shows, out of the results of the benches. */
export function figures(): string {
  return table(
    ['what', 'measured', 'bench'],
    SHOWN.map((shown) => [
      shown.text,
      shown.say(median(shown, shown.of)),
      `[${shown.bench}](bench/README.md#${shown.bench})`,
    ]),
  )
}
