import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../workspaces.ts'
import { challengedRequests } from './asked.ts'
import { type CaseFile, type Judge, type Outcome, short } from './case.ts'
import { caseFiles } from './folder.ts'
import { aptRun, pathLines, userAgentLines } from './lines.ts'
import { combinedLog, logInTwoFormats, replayedLog } from './logs.ts'
import {
  balancedLog,
  connectionOfOne,
  forwardedCheck,
  namedScheme,
  publishedList,
  unsortedLog,
  writtenLog,
} from './operators.ts'
import { appShell, scriptOfAPage, workerPage } from './pages.ts'
import { limitConfig, policyOfAnother } from './policies.ts'
import { Product } from './product.ts'
import { byHand, program } from './programs.ts'
import { requestCases } from './requests.ts'
import { applicationLines, policyTests, wordedRequest } from './services.ts'
import { http2Trailer, keptConnection, rawRequest } from './wires.ts'

/* `npm run cases [-- FOLDER]`: holds the product against a folder of recorded cases, and prints what each expects and what came. */
const JUDGES: readonly Judge[] = [
  program,
  byHand,
  connectionOfOne,
  namedScheme,
  keptConnection,
  challengedRequests,
  wordedRequest,
  policyTests,
  applicationLines,
  requestCases,
  rawRequest,
  http2Trailer,
  userAgentLines,
  pathLines,
  aptRun,
  replayedLog,
  combinedLog,
  logInTwoFormats,
  appShell,
  workerPage,
  scriptOfAPage,
  limitConfig,
  policyOfAnother,
  publishedList,
  forwardedCheck,
  unsortedLog,
  balancedLog,
  writtenLog,
]

const { positionals } = parseArgs({ allowPositionals: true })
const [folder = join(ROOT, '../shared/data/cases')] = positionals
const say = (text: string): void => void process.stdout.write(`${text}\n`)

if (existsSync(folder)) {
  const product = new Product()
  const outcomes: Outcome[] = []
  try {
    for (const file of caseFiles(folder)) outcomes.push(...(await judged(file, product)))
  } finally {
    await product.close()
  }
  table(outcomes)
  const failed = outcomes.filter(({ ok }) => ok === false).length
  const skipped = outcomes.filter(({ ok }) => ok === undefined).length
  say(`${outcomes.length - failed - skipped} as expected, ${failed} not, ${skipped} not run`)
  if (failed > 0) process.exitCode = 1
} else {
  say(`There are no cases: ${folder} does not exist. Nothing was run.`)
}

async function judged(file: CaseFile, product: Product): Promise<readonly Outcome[]> {
  const { name: input } = file
  const judge = JUDGES.find((one) => one.takes(file))
  if (judge === undefined) return [{ input, expected: 'a form that is known', came: 'nobody can judge it', ok: false }]
  return judge.judge(file, product).catch((error) => [{ input, expected: 'an answer', came: String(error), ok: false }])
}

function table(outcomes: readonly Outcome[]): void {
  const rows = outcomes.map(({ input, expected, came, ok }) => [
    ok === undefined ? 'not run' : ok ? 'ok' : 'NOT OK',
    short(input, 64),
    short(expected, 64),
    short(came, 90),
  ])
  const all = [['', 'case', 'expected', 'came'], ...rows]
  const widths = [0, 1, 2].map((at) => Math.max(...all.map((row) => row[at]?.length ?? 0)))
  for (const row of all)
    say(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
