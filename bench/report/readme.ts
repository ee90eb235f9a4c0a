import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BENCH, RESULTS, readResults } from './files.ts'
import type { Results } from './result.ts'
import { resultsText } from './text.ts'

/*
 * The tables of bench/README.md are made of the results: what lies between `<!-- results of NAME -->` and the next heading is
 * written here, the prose before it by hand.
 */
const README = join(BENCH, 'README.md')

/** Writes these results into the marked places of the document. */
export function filled(text: string, all: ReadonlyMap<string, Results>): string {
  const left = new Set(all.keys())
  const made = text.replaceAll(/<!-- results of ([\w-]+) -->.*?(?=\n## |\s*$)/gs, (_, name: string) => {
    const results = all.get(name)
    left.delete(name)
    const body = results === undefined ? `Not measured yet: \`npm run bench -- ${name}\`.` : resultsText(results)
    return `<!-- results of ${name} -->\n${body}\n`
  })
  if (left.size > 0) throw new Error(`bench/README.md has no place for the results of ${[...left].join(', ')}`)
  return made
}

/** Returns the document as it is, and as the results make it. */
export function readDocument(): { readonly kept: string; readonly made: string } {
  const kept = readFileSync(README, 'utf8')
  return { kept, made: filled(kept, readResults(RESULTS)) }
}

export function writeDocument(): void {
  writeFileSync(README, readDocument().made)
}
