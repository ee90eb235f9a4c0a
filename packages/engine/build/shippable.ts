import { OPEN_LICENCES, type SourceRow } from '@sallyport/data/sources'

/**
 * Whether a source may and should come with a release: everyone may pass it on, it is used without being asked for, and it is
 * worth having for longer than the way to an installation takes. Cities are too large.
 */
export function isShippable(row: SourceRow): boolean {
  const isLasting = row.networkClass !== 'residential_proxy' && row.refreshHours !== undefined
  const isWorth = isLasting || row.package !== undefined
  return row.enabled && isWorth && row.kind !== 'city' && !row.fallback && mayBePassedOn(row)
}

/** Whether what its licence asks for can be put beside it; the text of Apache-2.0 is in the package. */
function mayBePassedOn({ licence, copyright }: SourceRow): boolean {
  if (licence === 'MIT') return copyright !== undefined
  return licence !== 'BSD-3-Clause' && OPEN_LICENCES.includes(licence)
}
