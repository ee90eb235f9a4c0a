import { parseAddress, type Snapshot } from '@sallyport/core'
import type { Run } from '../report/run.ts'
import { GEOFEEDS } from './feeds.ts'
import { percent } from './scores.ts'
import { readShared, sharedLines } from './shared.ts'

/** An address, and the country that is right. */
type Located = readonly [address: string, country: string]

/**
 * How often the country is right without a file of cities: for the ranges of operators' geofeeds, which are not loaded, and, for want
 * of geofeeds of other countries, as the city database has it, which is no truth.
 */
export function compareCountries(run: Run, bare: Snapshot): void {
  const sets = [
    [`of ${GEOFEEDS.length} geofeeds, T-Mobile's and Verizon's`, GEOFEEDS.flatMap(rangesOf)] as const,
    ['agrees with the city database, worldwide', ofDatabase()] as const,
  ]
  const figures = sets.flatMap(([name, located], at) => {
    const right = located.filter(([text, country]) => countryIn(bare, text) === country).length
    const row = `${located.length.toLocaleString('en')} ranges, ${name}`
    return percent(row, 'country right, no file of cities', right / located.length, {
      ...(at === 0 && { goal: { atLeast: 96 } }),
    })
  })
  run.table({ title: 'Countries without a file of cities', figures })
}

function countryIn({ countries }: Snapshot, text: string): string | undefined {
  const address = parseAddress(text)
  return address && countries?.find(address)?.code
}

/** The first address of each range of a geofeed. */
function rangesOf(path: string): readonly Located[] {
  return sharedLines(path).flatMap((line): readonly Located[] => {
    const [prefix = '', country = ''] = line.split(',')
    const text = prefix.replace(/\/.*/, '')
    return parseAddress(text) === undefined || country === '' ? [] : [[text, country]]
  })
}

function ofDatabase(): readonly Located[] {
  return readShared('geo/dbip-city-golden.jsonl.gz')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line): readonly Located[] => {
      const { ip, record } = JSON.parse(line)
      return record?.country_code ? [[ip, record.country_code]] : []
    })
}
