import { table } from './markdown.ts'
import { median } from './results.ts'

/** A figure of a bench: its text, its place in the results, and how it is written. */
type Shown = readonly [text: string, place: Parameters<typeof median>, say: (number: number) => string]

const BY_TIME = 'A request by processor time'
const STARTED = 'A process from its start, imports too'

const percent = (number: number) => `${number.toFixed(1)} %`
const left = () => median('frameworks', BY_TIME, 'Express, Sallyport', 'left of the bare framework')
const bareNode = () => median('startup', STARTED, '`node` alone', 'resident')

const SHOWN: readonly Shown[] = [
  [
    'Real browsers that are misclassified as bots, by their user agent',
    ['accuracy', 'Taken for a program, by user agent', 'Sallyport', 'browsers'],
    (number) => `${number.toFixed(2)} %`,
  ],
  [
    'Addresses of homes and phones that are classified as such',
    ['accuracy', 'The goals', 'people kept `residential_clean` or `mobile`', 'all feeds'],
    percent,
  ],
  [
    'VPN servers that are recognised as VPN or as machines without any VPN list',
    ['accuracy', 'The goals', 'VPN servers found as `vpn` or machines', 'without VPN feeds'],
    percent,
  ],
  [
    'Time for a decision about a new visitor',
    ['inspect', "A browser's request, all data, the default policy", '`decide()`, new visitors', 'processor time'],
    (number) => `${number.toFixed(2)} µs`,
  ],
  [
    'Requests a second that a small route of Fastify keeps',
    ['frameworks', BY_TIME, 'Fastify, Sallyport', 'left of the bare framework'],
    (share) => `${share.toFixed(0)} %; of Express ${left().toFixed(0)} %`,
  ],
  [
    'Memory of a process with Sallyport and cities',
    ['startup', STARTED, 'Sallyport, compiled data', 'resident'],
    (number) => `${number.toFixed(0)} MB; \`node\` alone ${bareNode().toFixed(0)} MB`,
  ],
]

/** Writes the figures that README shows, from the results of the benches. */
export function figures(): string {
  const rows = SHOWN.map(([text, place, say]) => {
    return [text, say(median(...place)), `[${place[0]}](bench/README.md#${place[0]})`]
  })
  return table(['what', 'measured', 'bench'], rows)
}
