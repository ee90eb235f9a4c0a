import type { SourceStatus } from '@sallyport/core'
import { OPERATORS } from '@sallyport/data/operators'
import { ORGANISATION_RULES } from '@sallyport/data/organisation-names'
import { RESERVED } from '@sallyport/data/reserved'

const OWN = { state: 'loaded', licence: 'Apache-2.0', credit: '' } as const

/** Month of the newest row: rows are looked at one by one, so this is when the table as a whole was last true. */
const OPERATORS_DATE = OPERATORS.map(({ date }) => date).reduce((newest, date) => (date > newest ? date : newest))

/** The facts kept by hand in `data/`, as sources: a verdict that rests on them names them like any other. */
export const FACTS: readonly SourceStatus[] = [
  { id: 'operators', title: 'Operator table', date: OPERATORS_DATE, entries: OPERATORS.length, ...OWN },
  { id: 'organisation-names', title: 'Organisation-name rules', entries: ORGANISATION_RULES.length, ...OWN },
  { id: 'reserved', title: 'IANA special-purpose address registries', entries: RESERVED.length, ...OWN },
]
