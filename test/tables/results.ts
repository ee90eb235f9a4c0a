import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'

/** Names the place of a figure in the results of a bench. */
export interface Place {
  readonly bench: string
  readonly title: string
  /** The end of `what`: some begin with how many they are of. */
  readonly row: readonly [name: string, what: string]
}

interface Figure {
  readonly case: string
  readonly what: string
  readonly value: { readonly median: number }
  readonly ratio?: { readonly median: number } | undefined
}

interface Results {
  readonly tables: readonly { readonly title: string; readonly figures: readonly Figure[] }[]
}

/** The medians of all figures at a place, of which a table that grows has several. Throws where there is none. */
export function medians(
  { bench, title, row: [name, what] }: Place,
  of: 'value' | 'ratio' = 'value',
): readonly number[] {
  const results = JSON.parse(readFileSync(join(ROOT, `bench/results/${bench}.json`), 'utf8')) as Results
  const rows = results.tables.find((one) => one.title === title)?.figures ?? []
  const found = rows
    .filter((row) => row.case === name && row.what.endsWith(what))
    .flatMap((row) => row[of]?.median ?? [])
  if (found.length === 0) throw new Error(`bench/results/${bench}.json has no ${name}, ${what}`)
  return found
}

/** Returns the first of the medians at a place. */
export function median(place: Place, of: 'value' | 'ratio' = 'value'): number {
  return medians(place, of)[0] as number
}
