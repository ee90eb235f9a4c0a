import { REGIONS } from '@sallyport/data/regions'
import { isCountry } from '../../geo/country.ts'
import { nearestWord } from '../../nearest-word.ts'
import { isRegion, listHolders, listRegions, readCountry, retiredCodes } from '../../region/codes.ts'
import { findRegion } from '../../region/names.ts'
import { unknown } from '../language/fault.ts'
import { texts } from '../language/values.ts'
import { word } from './match-word.ts'

const LIST = 'sanctions:'

/** Holds conditions on the region of the client's address. */
export const REGION_WORDS = {
  /** Matches ISO 3166-2, as `US-TX`, and lists of regions under sanctions, as `sanctions:eu`. The rule must set `unknown`. */
  region: word('Client regions (ISO 3166-2), or sanctions:eu', texts(regionFault), {
    asks: 'agent',
    mayLack: true,
    example: ['US-TX'],
    test(given, { unknown: wish, isNegated }) {
      const wanted = new Set(listNamedRegions(given))
      const holders = new Set([...wanted].flatMap(listHolders))
      // A rule that matches unknown places does so under a negation too, where this condition must fail.
      const unsure = wish === 'match' ? isNegated !== true : undefined
      return ({ region }) => {
        if (region?.code === undefined) return unsure
        if (listHolders(region.code).some((one) => wanted.has(one))) return true
        // The data knows a larger region than the rule names.
        return holders.has(region.code) ? unsure : false
      }
    },
  }),
}

/** Lists the regions that the entries of a rule name; the entries have been checked. */
export function listNamedRegions(given: readonly string[]): readonly string[] {
  return given.flatMap((entry) => REGIONS.sanctions.find(({ id }) => LIST + id === entry)?.regions ?? entry)
}

function regionFault(entry: string): string | undefined {
  if (isRegion(entry)) return undefined
  if (entry.startsWith(LIST)) {
    const lists = REGIONS.sanctions.map(({ id }) => LIST + id)
    return lists.includes(entry) ? undefined : unknown(entry, lists)
  }
  const code = entry
    .trim()
    .toUpperCase()
    .replace(/[ _\p{Pd}]/u, '-')
    .replace(/^UK(?=-|$)/, 'GB')
  const now = retiredCodes().get(code)
  if (now !== undefined) return `"${code}" is no longer a code of ISO 3166-2. Use ${now.join(', ')}`
  if (isCountry(code)) return `"${code}" is a country. Use match.country, or list its regions`
  const meant = isRegion(code) ? code : findMeant(entry, code)
  return (
    unknown(entry) + (meant === undefined ? ': expected an ISO 3166-2 code, like US-TX' : `; did you mean "${meant}"?`)
  )
}

/** Finds the intended region: by its name, or by a code that is nearly right. */
function findMeant(entry: string, code: string): string | undefined {
  const country = readCountry(code)
  if (country !== undefined) return findRegion(country, entry.slice(3)) ?? nearestWord(code, listRegions(country), 1)
  const joined = `${code.slice(0, 2)}-${code.slice(2)}`
  if (isRegion(joined)) return joined
  const countries = [...new Set(listRegions().map((one) => one.slice(0, 2)))]
  const named = countries.flatMap((one) => findRegion(one, entry) ?? [])
  return named.length === 1 ? named[0] : undefined
}
