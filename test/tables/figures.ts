import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'
import { table } from './markdown.ts'

/** A figure of a bench: where it stands in its results, and how it is said. */
interface Shown {
  readonly text: string
  readonly bench: string
  readonly title: string
  /** The end of `what`: some begin with how many they are of. */
  readonly row: readonly [name: string, what: string]
  /** The figure alone, or beside the peer of its row. */
  readonly of: 'value' | 'ratio'
  readonly say: (number: number) => string
}

const percent = (number: number) => `${number.toFixed(1)} %`
const microseconds = (number: number) => `${number.toFixed(2)} µs`

const GOALS = 'The goals'

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
    text: 'home lines that stay home lines',
    bench: 'accuracy',
    title: GOALS,
    row: ['homes kept `residential_clean`', 'all feeds'],
    of: 'value',
    say: percent,
  },
  {
    text: 'visitors called anonymised who are, with all feeds',
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
    text: 'an address to network, system and class',
    bench: 'lookup',
    title: 'An address in text to its network, by processor time',
    row: ['Sallyport, network, ASN and class', 'IPv4'],
    of: 'value',
    say: microseconds,
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
    text: 'a request of 100 B through the proxy, everything on',
    bench: 'proxy',
    title: 'The hop, by wrk with 64 connections',
    row: ['Sallyport, everything on', '100 B'],
    of: 'ratio',
    say: (times) => `${times.toFixed(1)} times an nginx that only forwards`,
  },
  {
    text: 'memory that `open()` adds to a process, cities among the data',
    bench: 'startup',
    title: 'Importing an adapter, and opening compiled data',
    row: ['`open()`, cities among the data', 'resident since'],
    of: 'value',
    say: (number) => `${number.toFixed(0)} MB`,
  },
]

interface Results {
  readonly tables: readonly {
    readonly title: string
    readonly figures: readonly {
      readonly case: string
      readonly what: string
      readonly value: { readonly median: number }
      readonly ratio?: { readonly median: number } | undefined
    }[]
  }[]
}

function said({ bench, title, row: [name, what], of, say }: Shown): string {
  const results = JSON.parse(readFileSync(join(ROOT, `bench/results/${bench}.json`), 'utf8')) as Results
  const rows = results.tables.find((one) => one.title === title)?.figures
  const median = rows?.find((row) => row.case === name && row.what.endsWith(what))?.[of]?.median
  if (median === undefined) throw new Error(`bench/results/${bench}.json has no ${name}, ${what}`)
  return say(median)
}

/** The figures that README shows, out of the results of the benches (D260). */
export function figures(): string {
  return table(
    ['what', 'measured', 'bench'],
    SHOWN.map((shown) => [shown.text, said(shown), `[${shown.bench}](bench/README.md#${shown.bench})`]),
  )
}
