import type { Inspection } from '../../values/inspection.ts'
import type { Degraded } from '../../vocabulary.ts'

/**
 * Reports whether an inspection lacks the data that a word reads. A country may be known, or known to be in no table, where places are not,
 * and a reserved address has none, whatever is loaded.
 */
export function lacks(inspection: Inspection, need: Degraded): boolean {
  return inspection.degraded.includes(need) && !(need === 'geo' && isCountrySettled(inspection))
}

function isCountrySettled({ country, countryUnknown, network }: Inspection): boolean {
  return country !== undefined || countryUnknown === true || network.reserved.reserved
}
