import { table } from './markdown.ts'
import { median, type Place } from './results.ts'

/** A figure of a bench, and how it is said. */
interface Shown extends Place {
  readonly text: string
  /** Shows the figure alone, or beside the peer of its row. */
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
    text: 'Real browsers that are misclassified as bots, by their user agent',
    bench: 'accuracy',
    title: 'Taken for a program, by user agent',
    row: ['Sallyport', 'browsers'],
    of: 'value',
    say: (number) => `${number.toFixed(2)} %`,
  },
  {
    text: 'Addresses of homes and phones that are classified as such',
    bench: 'accuracy',
    title: GOALS,
    row: ['people kept `residential_clean` or `mobile`', 'all feeds'],
    of: 'value',
    say: percent,
  },
  {
    text: 'VPN servers that are recognised as VPN or as machines without any VPN list',
    bench: 'accuracy',
    title: GOALS,
    row: ['VPN servers found as `vpn` or machines', 'without VPN feeds'],
    of: 'value',
    say: percent,
  },
  {
    text: 'Time for a decision about a new visitor',
    bench: 'inspect',
    title: "A browser's request, all data, the default policy",
    row: ['`decide()`, new visitors', 'processor time'],
    of: 'value',
    say: microseconds,
  },
  {
    text: 'Requests a second that a small route of Fastify keeps',
    bench: 'frameworks',
    title: 'A request by processor time',
    row: ['Fastify, Sallyport', 'left of the bare framework'],
    of: 'value',
    say: (share) => `${share.toFixed(0)} %; of Express ${left('Express').toFixed(0)} %`,
  },
  {
    text: 'Memory of a process with Sallyport and cities',
    bench: 'startup',
    title: STARTED,
    row: ['Sallyport, compiled data', 'resident'],
    of: 'value',
    say: (number) => `${number.toFixed(0)} MB; \`node\` alone ${bareNode().toFixed(0)} MB`,
  },
]

/** Writes the figures that README shows, from the results of the benches. */
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
