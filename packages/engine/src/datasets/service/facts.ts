import { hash } from 'node:crypto'
import type { SourceStatus } from '@sallyport/core'
import { CRAWLERS } from '@sallyport/data/crawlers'
import { HOST_LIKENESS } from '@sallyport/data/host-likeness'
import { OPERATORS } from '@sallyport/data/operators'
import { ORGANISATION_RULES, ORGANISATION_RULES_DATE } from '@sallyport/data/organisation-names'
import { RESERVED, RESERVED_DATE } from '@sallyport/data/reserved'
import { REVERSE_NAME_RULES, REVERSE_NAMES_DATE } from '@sallyport/data/reverse-names'
import { SHIPPED_RANGES, shippedRow } from '../compile/shipped-lists.ts'

const OWN = { state: 'loaded', licence: 'Apache-2.0', credit: '' } as const

/** The newest row's date: rows are checked one by one. */
const OPERATORS_DATE = newestOf(OPERATORS)

function newestOf(rows: readonly { readonly date: string }[]): string {
  return rows.map(({ date }) => date).reduce((newest, date) => (date > newest ? date : newest))
}

/** The facts kept by hand in `data/`, as sources: a verdict that rests on them names them like any other. */
export const FACTS: readonly SourceStatus[] = [
  fact('operators', 'Operator table', OPERATORS, OPERATORS_DATE),
  fact('organisation-names', 'Organisation-name rules', ORGANISATION_RULES, ORGANISATION_RULES_DATE),
  fact('system-shape', 'Prefixes and neighbours of hosts', [HOST_LIKENESS], HOST_LIKENESS.date),
  fact('reverse-names', 'Reverse names of services', REVERSE_NAME_RULES, REVERSE_NAMES_DATE),
  fact('crawlers', 'Crawler catalogue', CRAWLERS, newestOf(CRAWLERS)),
  ...SHIPPED_RANGES.map(({ id, date, prefixes }) => {
    const row = shippedRow(id)
    return fact(row.id, row.title, prefixes, date)
  }),
  fact('reserved', 'IANA special-purpose address registries', RESERVED, RESERVED_DATE),
]

/** The hash is over the rows as JSON: they are part of the program, so there is no file to hash. */
function fact(id: string, title: string, rows: readonly unknown[], date: string): SourceStatus {
  const sha256 = hash('sha256', JSON.stringify(rows), 'hex')
  return { id, title, date, entries: rows.length, sha256, ...OWN }
}

/** Facts derived from the loaded lists, dated as the newest of them. */
export function derivedFacts(sources: readonly SourceStatus[]): readonly SourceStatus[] {
  const dates = sources.flatMap(({ state, date }) => (state === 'loaded' && date !== undefined ? [date] : []))
  if (dates.length === 0) return []
  const date = dates.reduce((newest, day) => (day > newest ? day : newest))
  return [
    { id: 'system-prefixes', title: "What lists say of systems' prefixes", date, ...OWN },
    { id: 'rented-systems', title: 'Hosts that several VPN services rent from', date, ...OWN },
    { id: 'exit-density', title: 'Prefixes crowded with known VPN exits', date, ...OWN },
    { id: 'exit-neighbours', title: 'Prefixes of access networks with known exits', date, ...OWN },
    { id: 'proxy-neighbours', title: 'Prefixes with several listed proxies', date, ...OWN },
  ]
}
