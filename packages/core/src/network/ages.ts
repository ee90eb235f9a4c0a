import { LIST_AGES, type ListAge, type ListKind } from '@sallyport/data/list-ages'
import { DAY_MS } from '../duration.ts'
import type { AgingSource, Snapshot, SourceStatus } from '../ports/index.ts'
import type { DatedSource } from '../values/finding.ts'

const BY_KIND = new Map(LIST_AGES.map((age) => [age.kind, age]))

export function listAge(kind: ListKind): ListAge {
  return BY_KIND.get(kind) as ListAge
}

/** Returns the days for which an entry counts after its own, until half of such entries are wrong. */
export function lifeDays(kind: ListKind): number {
  return (listAge(kind).kept.at(-1) as readonly [number, number])[0]
}

/**
 * Returns the share of a source's entries that still hold at an age in days: linear between the measured days, and halved again in each
 * such time after the day on which half is left.
 */
export function shareKept(kind: ListKind, days: number): number {
  const { kept } = listAge(kind)
  const next = kept.findIndex(([day]) => day > days)
  if (next === -1) return BELIEVED ** (days / lifeDays(kind))
  const [nextDay, nextShare] = kept[next] as readonly [number, number]
  const [day, share] = kept[next - 1] ?? [days, nextShare]
  return share + ((nextShare - share) * (days - day)) / (nextDay - day)
}

/**
 * Returns the share of confidence that the age of a source leaves, 0 to 1: age counts in no other way. It is 1 where nothing says how old
 * the source is, and where no clock tells the day. `now` is in milliseconds.
 */
export function shareLeft({ ages, lastTrue }: Omit<AgingSource, 'id'>, now: number | undefined): number {
  if (ages === undefined || lastTrue === undefined || now === undefined) return 1
  return shareKept(ages, Math.floor((now - Date.parse(lastTrue)) / DAY_MS))
}

/** An entry is believed while this share of its source's entries still holds. */
export const BELIEVED = 0.5

export function findSource({ sources }: Pick<Snapshot, 'sources'>, id: string): SourceStatus | undefined {
  return sources.find((source) => source.id === id)
}

/** Returns a source with the day on which it was last known to be true; `undefined` where that is unknown. */
export function datedSource({ id, lastTrue }: AgingSource): DatedSource | undefined {
  return lastTrue === undefined ? undefined : Object.freeze({ source: id, date: lastTrue.slice(0, 10) })
}

/** Returns the source of the earlier day; `undefined` where neither is known. */
export function olderSource(one: DatedSource | undefined, other: DatedSource | undefined): DatedSource | undefined {
  return one === undefined || (other !== undefined && other.date < one.date) ? other : one
}
