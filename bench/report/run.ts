import { readMachine, waitUntilFree } from './machine.ts'
import type { Results, Table } from './result.ts'
import { durationText, writeTable } from './text.ts'

/** One run of one bench: what it is asked for, and where its figures go. */
export interface Run {
  readonly quick: boolean
  /** How much of something: a quick run only shows that everything works. */
  pick<T>(full: T, quick: T): T
  /** Says what the next step is, with the time. */
  step(what: string): void
  /** Keeps and prints a table. */
  table(table: Table): void
  /** Names a figure that cannot be measured here, and why. */
  skip(what: string): void
}

export interface Bench {
  readonly measure: (run: Run) => Promise<void>
  /** About how many seconds a full and a quick run take. */
  readonly seconds: readonly [full: number, quick: number]
  /** True where the figures are counts, which other programs of the machine do not change. */
  readonly counts?: true | undefined
}

/** Writes a line of progress at most so often. */
const SAY_EVERY_MS = 10_000

/** Runs one bench; undefined: nothing of it could be measured here. */
export async function runBench(
  name: string,
  { measure, seconds, counts }: Bench,
  quick: boolean,
): Promise<Results | undefined> {
  if (!quick && !counts) await waitUntilFree()
  const { busy, ...free } = readMachine()
  const machine = { ...free, ...(busy && !counts && { busy }) }
  const tables: Table[] = []
  const skipped: string[] = []
  const began = performance.now()
  const step = createProgress(`${name}: about ${durationText(quick ? seconds[1] : seconds[0])}`)
  await measure({
    quick,
    pick: (full, little) => (quick ? little : full),
    step,
    table(table) {
      tables.push(table)
      console.log(`\n${writeTable(table)}`)
    },
    skip(what) {
      skipped.push(what)
      console.log(`${name}: skipped: ${what}`)
    },
  })
  const took = Math.round((performance.now() - began) / 1000)
  console.log(`${name}: took ${took} s`)
  if (tables.length === 0) return undefined
  return { bench: name, machine: { ...machine, size: quick ? 'quick' : 'full', seconds: took }, tables, skipped }
}

/** Writes steps, with the time since the start. */
function createProgress(title: string): (what: string) => void {
  const began = performance.now()
  let said = began
  console.log(`\n${title}`)
  return (what) => {
    if (performance.now() - said < SAY_EVERY_MS) return
    said = performance.now()
    console.error(`${title}, ${durationText((said - began) / 1000)} gone: ${what}`)
  }
}
