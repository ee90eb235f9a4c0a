import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { BENCH, readResults } from './files.ts'
import type { Figure, Results, Spread } from './result.ts'
import { spreadText } from './text.ts'

/* `npm run bench -- compare A B`: what changed between two sets of results beyond what the same code varies by. */

export interface Change {
  readonly name: string
  readonly before: Spread
  readonly after: Spread
  /** `unknown`: a figure of one run, which says nothing of noise. */
  readonly verdict: 'better' | 'worse' | 'same' | 'unknown' | 'gone' | 'new'
}

type All = ReadonlyMap<string, Results>

/**
 * Change of each figure. A change is beyond noise where the spreads of both runs lie apart; the ratio to a peer is
 * compared where there is one, because what slows the machine slows the peer too.
 */
export function changesOf(before: All, after: All): readonly Change[] {
  const [old, fresh] = [figuresOf(before), figuresOf(after)]
  const shared = [...old].filter(([, { bench }]) => after.has(bench))
  const changes = shared.map(([name, { figure }]): Change => {
    const now = fresh.get(name)?.figure
    const spread = comparable(figure)
    if (now === undefined) return { name, before: spread, after: { median: Number.NaN }, verdict: 'gone' }
    return { name, before: spread, after: comparable(now), verdict: verdictOf(now, spread, comparable(now)) }
  })
  const added = [...fresh].filter(([name, { bench }]) => !old.has(name) && before.has(bench))
  return [
    ...changes,
    ...added.map(([name, { figure }]): Change => {
      return { name, before: { median: Number.NaN }, after: comparable(figure), verdict: 'new' }
    }),
  ]
}

function figuresOf(all: All): ReadonlyMap<string, { readonly bench: string; readonly figure: Figure }> {
  const named = [...all].flatMap(([bench, { tables }]) =>
    tables.flatMap(({ title, work, figures }) =>
      figures.map((figure): [string, { bench: string; figure: Figure }] => {
        const at = figure.at === undefined ? '' : `, ${figure.at.toLocaleString('en')} ${work}`
        const unit = figure.ratio === undefined ? figure.unit : `times ${figure.peer}`
        return [`${bench}: ${title}: ${figure.case}${at}: ${figure.what}, ${unit}`, { bench, figure }]
      }),
    ),
  )
  return new Map(named)
}

function comparable({ ratio, value }: Figure): Spread {
  return ratio ?? value
}

function verdictOf({ better }: Figure, before: Spread, after: Spread): Change['verdict'] {
  const isCounted = before.runs === undefined && after.runs === undefined
  const isNoisy = [before, after].some(({ runs = 0 }) => runs < 2)
  if (!isCounted && isNoisy) return 'unknown'
  const [from, to] = [before, after].map(({ median, low, high }) => ({ low: low ?? median, high: high ?? median }))
  if (from === undefined || to === undefined) return 'unknown'
  if (to.low > from.high) return better === 'more' ? 'better' : 'worse'
  if (to.high < from.low) return better === 'more' ? 'worse' : 'better'
  return 'same'
}

/** Results in a folder, in a file, or in `bench/results` as a commit has it. */
function resultsAt(place: string): All {
  if (existsSync(place)) {
    if (statSync(place).isDirectory()) return readResults(place)
    const results: Results = JSON.parse(readFileSync(place, 'utf8'))
    return new Map([[results.bench, results]])
  }
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: BENCH, encoding: 'utf8' })
  const names = git('ls-tree', '--name-only', place, 'results/')
    .split('\n')
    .filter((name) => name.endsWith('.json'))
  const all = names.map((name): Results => JSON.parse(git('show', `${place}:./${name}`)))
  return new Map(all.map((results) => [results.bench, results]))
}

export function printChanges(before: string, after: string): void {
  const [old, fresh] = [resultsAt(before), resultsAt(after)]
  const changes = changesOf(old, fresh)
  for (const [bench, { machine }] of fresh) {
    const was = old.get(bench)?.machine
    if (was === undefined) console.log(`${bench}: not in ${before}`)
    else if (was.processor !== machine.processor || was.node !== machine.node || was.size !== machine.size)
      console.log(`${bench}: another machine, Node or size of run: ${was.processor}, ${was.node}, ${was.size}`)
  }
  const shown = changes.filter(({ verdict }) => verdict !== 'same' && verdict !== 'unknown')
  for (const { name, before, after, verdict } of shown) {
    console.log(`${verdict.padEnd(6)} ${name}: ${spreadText(before)} → ${spreadText(after)}`)
  }
  const count = (verdict: Change['verdict']) => changes.filter((change) => change.verdict === verdict).length
  console.log(
    `${count('better')} better, ${count('worse')} worse, ${count('same')} within noise, ${count('unknown')} of one run, which cannot be judged`,
  )
}
