import { execFileSync } from 'node:child_process'
import { isInstalled } from '../proxy/program.ts'
import { counted, type Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { ASKED, requestWith, withoutStore } from './passes.ts'
import { hashesOf, solve } from './solve.ts'

/** Pages that a pass opens before it is asked again, by the presets (`budget`). */
const BUDGET = 120
const PAGES = 10_000

/** Hashes of an answer, on average. */
const LEVEL_2 = 32 * 2 ** 10
const LEVEL_3 = 32 * 2 ** 12

/** The cost of an answer to one that makes many: with the page's own script, and with native code, on one processor. */
export function benchSolvers(run: Run, ofPage: number | undefined): void {
  run.step('native solvers')
  const native = ofNode(run.pick(100, 3))
  const solvers = new Map<string, number>()
  if (ofPage !== undefined) solvers.set("the page's script, in Chromium", ofPage)
  solvers.set('`node:crypto`, a process', native)
  if (isInstalled('openssl')) solvers.set('OpenSSL, by its `speed`', ofOpenssl(run.pick(3, 1)))
  else run.skip('OpenSSL is not installed')
  const answers = Math.ceil(PAGES / BUDGET)
  const figures = [...solvers].flatMap(([name, rate]): readonly Figure[] => [
    { case: name, what: 'hashes', unit: 'million/s', value: counted(rate / 1e6) },
    {
      case: name,
      what: 'times the page',
      unit: '',
      value: counted(ofPage === undefined ? Number.NaN : rate / ofPage),
    },
    { case: name, what: 'an answer, level 2', unit: 'ms', value: counted((LEVEL_2 / rate) * 1_000) },
    { case: name, what: '10,000 pages, level 2', unit: 's', value: counted((answers * LEVEL_2) / rate) },
    { case: name, what: '10,000 pages, level 3', unit: 's', value: counted((answers * LEVEL_3) / rate) },
  ])
  run.table({
    title: `A farm's processor time: ${answers} answers open 10,000 pages, ${BUDGET} each, by the presets`,
    figures: figures.filter(({ value }) => !Number.isNaN(value.median)),
  })
}

/** Hashes in a second of processor time, while it solves questions. */
function ofNode(answers: number): number {
  const challenges = withoutStore({ now: Date.now })
  const questions = Array.from({ length: answers }, () => challenges.issue(requestWith(), ASKED, true))
  const before = process.cpuUsage()
  const hashes = questions.reduce((sum, question) => sum + hashesOf(solve(question)), 0)
  const { user, system } = process.cpuUsage(before)
  return hashes / ((user + system) / 1e6)
}

/** Hashes in a second of processor time, of as many bytes as a puzzle has. */
function ofOpenssl(seconds: number): number {
  const args = ['speed', '-seconds', String(seconds), '-bytes', '40', '-evp', 'sha256']
  const said = execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const thousands = /^sha256\s+([\d.]+)k$/im.exec(said)?.[1]
  if (thousands === undefined) throw new Error(`openssl speed: ${said}`)
  return (Number(thousands) * 1_000) / 40
}
