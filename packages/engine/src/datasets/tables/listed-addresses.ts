import { type Address, findAddress, isRepeated, type NetworkRecord, type RangeHit } from '@sallyport/core'
import type { RangeSource } from '../format/range-source.ts'
import type { TableColumns } from '../format/tables.ts'

const NOTHING: NetworkRecord = Object.freeze({
  also: Object.freeze([]),
  inVpnRanges: false,
  inDatacenterRanges: false,
})

/** Opens the single addresses that lists name, one entry for each list that names one; `today` counts days since the epoch. */
export function openListedAddresses(
  { columns, description: { addressLists } }: TableColumns,
  recordAt: (number: number) => NetworkRecord | undefined,
  today: () => number,
) {
  const index = {
    filter: columns['addresses.filter'],
    four: columns['addresses.four'],
    six: columns['addresses.six'],
  }
  const lists = columns['addresses.lists']
  const expiryDays = columns['addresses.expires']
  const sets = createListedSets(addressLists)
  // A finding is kept by its record, so a record is one object; few sets of hits meet few records.
  const kept = new Map<number, NetworkRecord>()

  function setAt(first: number): number {
    let set = 0
    for (let entry = first; entry === first || isRepeated(index, entry); entry++) {
      const list = lists[entry] as number
      const expires = expiryDays[entry] as number
      if (expires === 0 || expires >= today()) set = sets.with(set, list, expires)
    }
    return set
  }

  function makeRecord(set: number, { range: prefix, ...record }: NetworkRecord): NetworkRecord {
    const [range, ...also] = sets.hits(set)
    const prefixes = prefix === undefined ? record.also : [prefix, ...record.also]
    return Object.freeze({
      ...record,
      ...(range === undefined ? {} : { range }),
      also: Object.freeze([...also, ...prefixes]),
    })
  }

  return {
    /** Returns the first entry of an address; -1 when no list names it. */
    find: (address: Address): number => findAddress(index, address),
    /** Returns the record of this number, with the hits of the lists at the address of an entry that hold today. */
    record(entry: number, number: number): NetworkRecord | undefined {
      const set = setAt(entry)
      if (set === 0) return recordAt(number)
      const key = number * 2 ** 24 + set
      const known = kept.get(key)
      if (known !== undefined) return known
      const made = makeRecord(set, recordAt(number) ?? NOTHING)
      kept.set(key, made)
      return made
    },
  }
}

/** Numbers each set of lists that name one address once; set 0 is empty. */
function createListedSets(lists: readonly RangeSource[]) {
  const sets: (readonly RangeHit[])[] = [[]]
  const longer = new Map<number, number>()
  return {
    /** Adds a list to a set. The entries of the list hold up to a day, in days since the epoch; 0 means without end. */
    with(set: number, list: number, expires: number): number {
      const key = set * 2 ** 24 + list * 2 ** 16 + expires
      const known = longer.get(key)
      if (known !== undefined) return known
      const hit = { ...(lists[list] as RangeSource), narrow: true, ...(expires === 0 ? {} : { expires }) }
      sets.push([...(sets[set] as readonly RangeHit[]), Object.freeze(hit)])
      longer.set(key, sets.length - 1)
      return sets.length - 1
    },
    /** Returns the hits in order of precedence. */
    hits: (set: number) => sets[set] as readonly RangeHit[],
  }
}
