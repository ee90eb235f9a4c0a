import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'

interface Figure {
  readonly case: string
  readonly what: string
  readonly value: { readonly median: number }
}

interface Results {
  readonly tables: readonly { readonly title: string; readonly figures: readonly Figure[] }[]
}

/**
 * Returns the medians of all figures at a place in the results of a bench, of which a table that grows has several. `what` is the end of
 * a text, which may begin with how many it is of. Throws where there is none.
 */
export function medians(bench: string, title: string, name: string, what: string): readonly number[] {
  const results = JSON.parse(readFileSync(join(ROOT, `bench/results/${bench}.json`), 'utf8')) as Results
  const rows = results.tables.find((one) => one.title === title)?.figures ?? []
  const found = rows.filter((row) => row.case === name && row.what.endsWith(what)).map(({ value }) => value.median)
  if (found.length === 0) throw new Error(`bench/results/${bench}.json has no ${name}, ${what}`)
  return found
}

export function median(...place: Parameters<typeof medians>): number {
  return medians(...place)[0] as number
}
