import { REGIONS } from '@sallyport/data/regions'
import { isCountry } from '../geo/country.ts'
import { lazily } from '../lazily.ts'

const names = lazily((): ReadonlyMap<string, string> => new Map(readRows(REGIONS.codes.codes)))

/** Maps a region to the region that holds it, where one does. */
const holders = lazily(() => {
  const found = new Map<string, string>()
  for (const [holder, rows] of Object.entries(REGIONS.codes.codes)) {
    if (holder.includes('-')) for (const [code] of readRows({ [holder]: rows })) found.set(code, holder)
  }
  for (const [holder, held] of Object.entries(REGIONS.parents.codes)) {
    for (const code of held.split(' ')) found.set(`${holder.slice(0, 2)}-${code}`, holder)
  }
  return found
})

/** Maps each code that ISO withdrew to the codes that took its place. */
export const retiredCodes = lazily(
  () =>
    new Map(
      readRows(REGIONS.retired.codes).map(([code, now]) => {
        const country = code.slice(0, 3)
        return [code, now.split(' ').map((one) => country + one)]
      }),
    ) as ReadonlyMap<string, readonly string[]>,
)

const disputed = lazily(() => new Set(REGIONS.disputed.flatMap(({ regions }) => regions)))

/** Reports whether a text is the code of a current region (ISO 3166-2). */
export function isRegion(code: string): boolean {
  return names().has(code)
}

export function listRegions(country?: string): readonly string[] {
  const all = [...names().keys()]
  return country === undefined ? all : all.filter((code) => code.startsWith(`${country}-`))
}

/** Lists a region and those that hold it, the smallest first: a department, and its region. */
export function listHolders(code: string): readonly string[] {
  const held = [code]
  for (let next = holders().get(code); next; next = holders().get(next)) held.push(next)
  return held
}

/** Returns today's code for a code that a source wrote; `undefined` where it is unknown, or was split. */
export function currentRegion(written: string): string | undefined {
  const code = written.toUpperCase()
  if (isRegion(code)) return code
  const now = retiredCodes().get(code)
  return now?.length === 1 ? now[0] : undefined
}

/** Returns the ISO name of a region; the text itself where it is not a code. */
export function nameRegion(code: string): string {
  return names().get(code) ?? code
}

const twins = lazily(() => new Map(readRows(REGIONS.twins.codes).map(([code, country]) => [country, code])))

/** Returns the region of another country that is the same place as a country: PR is US-PR. */
export function findTwin(country: string): string | undefined {
  return twins().get(country)
}

/** Reports whether no data can tell who is in a region. */
export function isDisputed(code: string): boolean {
  return listHolders(code).some((one) => disputed().has(one)) || disputed().has(`${code.slice(0, 2)}-*`)
}

/** Returns the country of a region, for texts in the form of a region's code. */
export function readCountry(code: string): string | undefined {
  const country = code.slice(0, 2)
  return code[2] === '-' && isCountry(country) ? country : undefined
}

/** Reads `BY=Bavaria; HE=Hesse` by country, or by a region of it, as pairs of a whole code and its value. */
export function readRows(
  byHolder: Readonly<Record<string, string>>,
): readonly (readonly [code: string, said: string])[] {
  return Object.entries(byHolder).flatMap(([holder, rows]) =>
    rows.split('; ').map((row) => {
      const [code, said = ''] = row.split('=')
      return [`${holder.slice(0, 2)}-${code}`, said] as const
    }),
  )
}
