import { LIST_AGES, type ListAge, type ListKind } from '@sallyport/data/list-ages'
import type { SourceStatus } from '../ports/index.ts'
import type { NetworkClass } from '../vocabulary.ts'

const BY_KIND = new Map(LIST_AGES.map((age) => [age.kind, age]))

/** How lists of a kind age. */
export function ageOf(kind: ListKind): ListAge {
  return BY_KIND.get(kind) as ListAge
}

/** A list as far as its ageing goes: of single addresses or of prefixes, and whether an operator publishes it of its own machines. */
export interface AgingList {
  readonly networkClass?: NetworkClass | undefined
  readonly single: boolean
  readonly isPublished: boolean
}

/** The kind by which a list ages. */
export function listKind({ networkClass, single, isPublished }: AgingList): ListKind {
  if (isPublished) return 'crawler'
  if (networkClass === 'tor') return 'tor'
  if (networkClass === 'residential_proxy') return 'proxy'
  return networkClass === 'vpn' && single ? 'service' : 'range'
}

/** Share of a list's entries that still hold when it is so many days old: linear between what was measured. */
export function shareKept(kind: ListKind, days: number): number {
  const { kept } = ageOf(kind)
  const next = kept.findIndex(([day]) => day > days)
  const [lastDay, lastShare] = kept.at(next === -1 ? -1 : Math.max(0, next - 1)) as readonly [number, number]
  const [day, share] = kept[next] ?? [lastDay, lastShare]
  return day <= lastDay ? lastShare : lastShare + ((share - lastShare) * Math.max(0, days - lastDay)) / (day - lastDay)
}

/** For how many days after its own an entry of a list of addresses is believed. */
export function lifeDays(kind: ListKind): number {
  return (ageOf(kind).kept.at(-1) as readonly [number, number])[0]
}

/**
 * When a list was last known to be true, milliseconds since the epoch: when its publisher was last seen to have it, but when it
 * was made where it is made again all the time. `undefined` where nothing says so.
 */
export function lastTrue(
  { checked, date }: Pick<SourceStatus, 'checked' | 'date'>,
  kind: ListKind,
): number | undefined {
  const time = ageOf(kind).changing ? (date ?? checked) : (checked ?? date)
  return time === undefined ? undefined : Date.parse(time)
}
