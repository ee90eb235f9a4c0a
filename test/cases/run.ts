import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../workspaces.ts'
import { type CaseFile, caseFiles, type Judge, type Outcome, short } from './case.ts'
import { pathLines, userAgentLines } from './lines.ts'
import { Product } from './product.ts'
import { requestCases } from './requests.ts'

/* `npm run cases [-- FOLDER]`: holds the product against a folder of recorded cases, and prints what each expects and what came. */
const JUDGES: readonly Judge[] = [requestCases, userAgentLines, pathLines]

/** Names the tests of this repository that hold what a file describes in a form of its own. */
const TESTED: readonly (readonly [name: RegExp, tests: string])[] = [
  [/304-content-length|h2-trailer|upgrade-h2c|ntlm|forwarded-proto|forward-auth|apt-flat|grpc/, 'adapters/proxy/test'],
  [/worker|shell|second-challenge|\.html$|\.js$/, 'test/clients, adapters/node/test'],
  [/asked\.mjs|feed-readers/, 'adapters/node/test'],
  [/haproxy|-challenges\.log$/, 'test/hosts'],
  [/private-relay|applications/, 'test/services'],
  [/ranges|nginx\.conf|ai-names/, 'packages/core/test/lists'],
  [/monitor|private-location/, 'packages/core/test'],
  [/\.log$|\.yaml$/, 'packages/sallyport/test/cli, test/services'],
]

const { positionals } = parseArgs({ allowPositionals: true })
const [folder = join(ROOT, '../shared/data/cases')] = positionals
const say = (text: string): void => void process.stdout.write(`${text}\n`)

if (existsSync(folder)) {
  const product = new Product()
  const outcomes: Outcome[] = []
  try {
    for (const file of caseFiles(folder)) outcomes.push(...(await judgeFile(file, product)))
  } finally {
    await product.close()
  }
  writeTable(outcomes)
  const failed = outcomes.filter(({ ok }) => ok === false).length
  const skipped = outcomes.filter(({ ok }) => ok === undefined).length
  say(`${outcomes.length - failed - skipped} as expected, ${failed} not, ${skipped} not run`)
  if (failed > 0) process.exitCode = 1
} else {
  say(`There are no cases: ${folder} does not exist. Nothing was run.`)
}

async function judgeFile(file: CaseFile, product: Product): Promise<readonly Outcome[]> {
  const { name: input } = file
  const judge = JUDGES.find((one) => one.takes(file))
  if (judge !== undefined) {
    const refuse = (error: unknown) => [{ input, expected: 'an answer', came: String(error), ok: false }]
    return judge.judge(file, product).catch(refuse)
  }
  const tests = TESTED.find(([name]) => name.test(input))?.[1]
  if (tests !== undefined) return [{ input, expected: 'as it says', came: `tested in ${tests}`, ok: undefined }]
  return [{ input, expected: 'a known form', came: 'no judge reads it', ok: false }]
}

function writeTable(outcomes: readonly Outcome[]): void {
  say('Each case, with what it expects and what came:')
  const rows = outcomes.map(({ input, expected, came, ok }) => [
    ok === undefined ? 'not run' : ok ? 'ok' : 'NOT OK',
    short(input, 64).padEnd(64),
    short(expected, 64).padEnd(64),
    short(came, 90),
  ])
  for (const [ok = '', ...cells] of rows) say([ok.padEnd(7), ...cells].join('  '))
}
