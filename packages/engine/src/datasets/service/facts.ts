import { hash } from 'node:crypto'
import type { SourceStatus } from '@sallyport/core'
import { CRAWLERS } from '@sallyport/data/crawlers'
import { HOST_LIKENESS } from '@sallyport/data/host-likeness'
import { OPERATORS } from '@sallyport/data/operators'
import { ORGANISATION_RULES, ORGANISATION_RULES_DATE } from '@sallyport/data/organisation-names'
import { RESERVED, RESERVED_DATE } from '@sallyport/data/reserved'
import { REVERSE_NAME_RULES, REVERSE_NAMES_DATE } from '@sallyport/data/reverse-names'
import type { SourceRow } from '@sallyport/data/sources'
import { SHIPPED_RANGES, shippedRow } from '../compile/shipped-lists.ts'
import { findNewest } from '../format/days.ts'
import { hasExits } from '../format/range-source.ts'
import { listKind } from '../sources/list-kind.ts'

const OWN = { state: 'loaded', ages: 'hand', licence: 'Apache-2.0', credit: '' } as const

/** The facts kept by hand in `data/`, as sources: a verdict that rests on them names them like any other source. */
export const FACTS: readonly SourceStatus[] = [
  // Rows are checked one by one.
  fact('operators', 'Operator table', OPERATORS, findNewest(OPERATORS)),
  fact('organisation-names', 'Organisation-name rules', ORGANISATION_RULES, ORGANISATION_RULES_DATE),
  fact('system-shape', 'Prefixes and neighbours of hosting companies', [HOST_LIKENESS], HOST_LIKENESS.date),
  fact('reverse-names', 'Reverse names of services', REVERSE_NAME_RULES, REVERSE_NAMES_DATE),
  fact('crawlers', 'Crawler catalogue', CRAWLERS, findNewest(CRAWLERS)),
  ...SHIPPED_RANGES.map(({ id, date, prefixes }) => {
    const row = shippedRow(id)
    return { ...fact(row.id, row.title, prefixes, date), ages: listKind(row) }
  }),
  fact('reserved', 'IANA special-purpose address registries', RESERVED, RESERVED_DATE),
]

/** The hash is over the rows as JSON: they are part of the program, so there is no file to hash. */
function fact(id: string, title: string, rows: readonly unknown[], date: string): SourceStatus {
  const sha256 = hash('sha256', JSON.stringify(rows), 'hex')
  return { id, title, date, lastTrue: date, entries: rows.length, sha256, ...OWN }
}

/** A fact that the compile derives from lists; `restsOn` reports whether it rests on a source. */
interface Derived extends Pick<SourceStatus, 'id' | 'title' | 'ages'> {
  readonly restsOn: (row: SourceRow) => boolean
}

const isOfProxies = ({ networkClass }: SourceRow) => networkClass === 'residential_proxy'

const DERIVED: readonly Derived[] = [
  {
    id: 'system-prefixes',
    title: 'Listed prefixes of autonomous systems',
    ages: 'range',
    restsOn: ({ networkClass }) => networkClass !== undefined,
  },
  { id: 'rented-systems', title: 'Hosting companies of several VPN services', ages: 'service', restsOn: hasExits },
  { id: 'exit-density', title: 'Prefixes with many known VPN exits', ages: 'service', restsOn: hasExits },
  { id: 'exit-neighbours', title: 'Prefixes of access networks with known exits', ages: 'service', restsOn: hasExits },
  { id: 'proxy-neighbours', title: 'Prefixes with several listed proxies', ages: 'proxy', restsOn: isOfProxies },
]

/** Derives facts from the loaded lists. Each is as old as the newest list that it rests on, and absent without one. */
export function derivedFacts(
  sources: readonly SourceStatus[],
  findRow: (id: string) => SourceRow | undefined,
): readonly SourceStatus[] {
  return DERIVED.flatMap(({ restsOn, ...derived }) => {
    const days = sources.flatMap(({ id, state, lastTrue }) => {
      const row = findRow(id)
      return state === 'loaded' && lastTrue !== undefined && row !== undefined && restsOn(row) ? [lastTrue] : []
    })
    if (days.length === 0) return []
    const lastTrue = days.reduce((newest, day) => (Date.parse(day) > Date.parse(newest) ? day : newest))
    return [{ ...OWN, ...derived, date: lastTrue.slice(0, 10), lastTrue }]
  })
}
