import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartOf } from './charts.ts'
import { BENCH, RESULTS, readResults } from './files.ts'
import type { Results } from './result.ts'
import { resultsText } from './text.ts'

/*
 * The tables and charts of bench/README.md are made of the results: what lies between `<!-- results of NAME -->` and
 * `<!-- end of NAME -->` is written here, the prose around it by hand.
 */
const README = join(BENCH, 'README.md')
const CHARTS = join(BENCH, 'charts')

/** A document with these results in its marked places. */
export function filled(text: string, all: ReadonlyMap<string, Results>): string {
  const left = new Set(all.keys())
  const made = text.replaceAll(/<!-- results of ([\w-]+) -->.*?<!-- end of \1 -->/gs, (_, name: string) => {
    const results = all.get(name)
    left.delete(name)
    const body = results === undefined ? `Not measured yet: \`npm run bench -- ${name}\`.` : resultsText(results)
    return `<!-- results of ${name} -->\n\n${body}\n\n<!-- end of ${name} -->`
  })
  if (left.size > 0) throw new Error(`bench/README.md has no place for the results of ${[...left].join(', ')}`)
  return made
}

/** The text of each chart, by the name of its file. */
function chartsOf(all: ReadonlyMap<string, Results>): ReadonlyMap<string, string> {
  const tables = [...all.values()].flatMap(({ tables }) => tables)
  return new Map(tables.flatMap((table) => (table.chart === undefined ? [] : [[`${table.chart}.svg`, chartOf(table)]])))
}

/** The committed document and charts, and what they should be: `made` of the results. */
export function readDocuments() {
  const all = readResults(RESULTS)
  const text = readFileSync(README, 'utf8')
  const charts = readdirSync(CHARTS).map((name): [string, string] => [name, readFileSync(join(CHARTS, name), 'utf8')])
  return { kept: { text, charts: new Map(charts) }, made: { text: filled(text, all), charts: chartsOf(all) } }
}

export function writeDocuments(): void {
  const { kept, made } = readDocuments()
  writeFileSync(README, made.text)
  for (const name of kept.charts.keys()) if (!made.charts.has(name)) rmSync(join(CHARTS, name))
  for (const [name, text] of made.charts) writeFileSync(join(CHARTS, name), text)
}
