import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine, Results } from './result.ts'

/** The folder of the benches in the repository: this file is compiled into `dist/report/`. */
export const BENCH = join(import.meta.dirname, '../..')
export const RESULTS = join(BENCH, 'results')

/** The folder for the results of a run. Figures of a busy machine, and of quick runs, do not replace the kept ones. */
export function chooseFolder({ size, busy }: Pick<Machine, 'size' | 'busy'>): string {
  if (size === 'quick') return join(BENCH, 'dist/quick')
  return busy ? join(BENCH, 'dist/busy') : RESULTS
}

export function writeResults(folder: string, results: Results): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${results.bench}.json`), `${JSON.stringify(results, undefined, 2)}\n`)
}

/** Reads the results in a folder, by bench. */
export function readResults(folder: string): ReadonlyMap<string, Results> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const all = files.map((name): Results => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  return new Map(all.map((results) => [results.bench, results]))
}
