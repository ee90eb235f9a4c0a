import table from './list-ages.json' with { type: 'json' }

/** Content of a source, as far as its ageing goes. */
export type ListKind = 'tor' | 'service' | 'proxy' | 'crawler' | 'rented' | 'range' | 'route' | 'mail' | 'hand'

/** Says how sources of one kind age. */
export interface ListAge {
  readonly kind: ListKind
  /** For how many days a copy counts as fresh. */
  readonly goodDays: number
  /** The list is made again all the time: a publisher's word that it has not changed makes it no younger. */
  readonly changing?: true | undefined
  /**
   * Share of the entries that still hold after so many days, ascending; linear between. On the last of these days half of
   * them are left: a listed address and a crawler's range are believed until then.
   */
  readonly kept: readonly (readonly [days: number, share: number])[]
  readonly note: string
}

/** How many entries of a list still hold as it ages, by kind, with the copies on which this was measured. */
export const LIST_AGES: readonly ListAge[] = table.kinds as unknown as readonly ListAge[]
