import { listKind } from '@sallyport/core'
import type { ListKind } from '@sallyport/data/list-ages'
import type { SourceRow } from '@sallyport/data/sources'

/** The kind by which a source's list ages; `undefined` for what is no list of addresses or ranges. */
export function kindOf({ kind, networkClass }: SourceRow): ListKind | undefined {
  if (kind !== 'ranges' && kind !== 'addresses' && kind !== 'crawler') return undefined
  return listKind({ networkClass, single: kind === 'addresses', isPublished: kind === 'crawler' })
}
