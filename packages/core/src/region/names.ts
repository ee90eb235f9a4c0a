import { REGIONS } from '@sallyport/data/regions'
import { lazily } from '../lazily.ts'
import { readRows } from './codes.ts'

/** Unicode does not decompose these letters; files without them write these instead. */
const LETTERS: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', đ: 'd', ı: 'i', ß: 'ss', æ: 'ae', ə: 'a', œ: 'oe' }

/** These words name the kind of a region: files leave them out, or write others. */
const KINDS =
  /\b(?:autonomous|canton|capital|city|commune|county|department|district|division|federal|free|governorate|islands?|kr[ay]i?|municipality|oblasti?|oblisi|oblysy|voblasc|okrug|of|parish|prefecture|province|region|republic|respublika|sheng|shi|special|state|territory|the|urban|voivodeship|novads|ken|do|si)\b/g

/** Maps country and name to codes; a name that several regions share maps to undefined. */
type Index = ReadonlyMap<string, string | undefined>

/** A name is searched for in the table, then in ISO, then in ISO without words for kinds. */
const indexes = lazily((): readonly Index[] => {
  const own = readRows(REGIONS.names.codes).map(([named, code]) => [named, `${named.slice(0, 3)}${code}`] as const)
  // City files name regions of the first level: a department of the same name is another place.
  const first = Object.fromEntries(Object.entries(REGIONS.codes.codes).filter(([holder]) => !holder.includes('-')))
  const iso = readRows(first).flatMap(([code, name]) =>
    [name, ...name.split(/[,([\]/)]/)].map((one) => [code.slice(0, 3) + one, code] as const),
  )
  return [indexBy(own, fold), indexBy(iso, fold), indexBy(iso, (name) => stripKinds(fold(name)))]
})

/** Returns the region that a source names, by its country; `undefined` where neither ISO nor the table has the name. */
export function findRegion(country: string, name: string): string | undefined {
  const [own, iso, loose] = indexes() as readonly [Index, Index, Index]
  const folded = fold(name)
  const key = `${country}-${folded}`
  return own.get(key) ?? iso.get(key) ?? loose.get(`${country}-${stripKinds(folded)}`)
}

const gateways = lazily(
  () =>
    new Set(
      readRows(REGIONS.gateways.codes).map(([city, region]) => `${city.slice(0, 3)}${region} ${fold(city.slice(3))}`),
    ),
)

/** Reports whether city files put lines of other regions too in a city of a region. */
export function isGateway(code: string, city: string): boolean {
  return gateways().has(`${code} ${fold(city)}`)
}

/** Makes `US-texas` lead to its code. */
function indexBy(rows: readonly (readonly [string, string])[], foldName: (name: string) => string): Index {
  const found = new Map<string, string | undefined>()
  for (const [named, code] of rows) {
    const name = foldName(named.slice(3))
    const key = named.slice(0, 3) + name
    if (name !== '') found.set(key, found.has(key) && found.get(key) !== code ? undefined : code)
  }
  return found
}

function fold(name: string): string {
  const plain = name.toLowerCase().replace(/[øłđıßæəœ]/g, (letter) => LETTERS[letter] ?? letter)
  const bare = plain.normalize('NFD').replace(/\p{M}|['’‘ʿʾʻ`´ʼ]/gu, '')
  return bare.replace(/[^a-z0-9]+/g, ' ').trim()
}

function stripKinds(folded: string): string {
  return folded.replace(KINDS, '').replace(/ +/g, ' ').trim()
}
