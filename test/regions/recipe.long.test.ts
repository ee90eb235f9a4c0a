import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'

/* The rules of the document on borders, over the embedded data, in each command that tells of regions. */

const BIN = join(ROOT, 'packages/sallyport/bin/sallyport.mjs')
const FOLDER = mkdtempSync(join(tmpdir(), 'sallyport-borders-'))
t.teardown(() => rmSync(FOLDER, { recursive: true }))

const [, RULES = ''] = /## Rules by country and region\n\n```yaml\n([\s\S]*?)```/.exec(
  readFileSync(join(ROOT, 'packages/sallyport/docs/regions.md'), 'utf8'),
) as RegExpExecArray
const CONFIG = write('sallyport.yaml', `dataDir: ${join(FOLDER, 'data')}\ndata: { refresh: false }\n${RULES}`)

function write(name: string, text: string): string {
  const file = join(FOLDER, name)
  writeFileSync(file, text)
  return file
}

function run(...argv: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...argv, '--config', CONFIG], {
    encoding: 'utf8',
  })
  return { code: status, out: stdout, err: stderr }
}

const VISITORS = {
  london: '86.128.10.20',
  dallas: '47.184.10.20',
  carrier: '172.56.1.1',
  tor: '185.220.101.10',
}
const hasCities = run('lookup', VISITORS.dallas).out.includes('region         US-TX')
const skip = hasCities ? false : 'no city file is installed'

t.test('policy test expects the status of a law, and the status of another block', { skip }, async (t) => {
  const tests = Object.entries({
    london: 'action: block, rule: uk-age, status: 451',
    dallas: 'action: block, rule: texas, status: 451',
    carrier: 'action: allow, rule: default',
    tor: 'action: flag',
  }).map(
    ([name, expect]) =>
      `- { name: ${name}, request: { ip: ${VISITORS[name as 'tor']}, path: /adult/1 }, expect: { ${expect} } }`,
  )
  tests.push(`- { name: elsewhere, request: { ip: ${VISITORS.london}, path: / }, expect: { action: allow } }`)
  const met = run('policy', 'test', write('met.yaml', ['tests:', ...tests, ''].join('\n')))
  t.match(met, { code: 0, out: /5 expectations met/ })
  const wrong = run(
    'policy',
    'test',
    write(
      'wrong.yaml',
      `tests:
  - { name: london, request: { ip: ${VISITORS.london}, path: /adult/1 }, expect: { status: 403 } }
  - { name: passes, request: { ip: ${VISITORS.london} }, expect: { status: 451 } }
`,
    ),
  )
  t.match(wrong, { code: 1, out: /london: status is 451, not 403\n[\s\S]*passes: status is none, not 451/ })
  const unknown = write('unknown.yaml', 'tests: [{ name: a, request: { ip: 8.8.8.8 }, expect: { status: 404 } }]')
  t.match(run('policy', 'test', unknown), { code: 2, err: /expect\.status/ })
})

t.test('explain says the region, or why it is not known, and the status', { skip }, async (t) => {
  const explain = (ip: string) => run('explain', write('request.json', JSON.stringify({ ip, path: '/adult/1' }))).out
  t.match(
    explain(VISITORS.dallas),
    /^block[\s\S]*status +451, for legal reasons[\s\S]*region +US-TX, Texas, by dbip-city-v4, confidence 0\.75/,
  )
  t.match(explain(VISITORS.carrier), /region +unknown: a mobile carrier/)
  t.match(explain(VISITORS.tor), /region +unknown: /)
})

t.test('simulate decides by the region of its client, and lookup says what rules see', { skip }, async (t) => {
  const simulate = (ip: string) => run('simulate', '--as', 'browser', '--ip', ip, '--path', '/adult/1').out
  t.match(simulate(VISITORS.dallas), /^block[\s\S]*because[^\n]*texas[\s\S]*status +451/)
  t.match(simulate(VISITORS.carrier), /^allow[\s\S]*region +unknown: a mobile carrier/)
  t.match(run('lookup', VISITORS.london).out, /region +GB-ENG, England, by dbip-city-v4, confidence 0\.75/)
  t.match(run('lookup', VISITORS.tor).out, /region +unknown: a VPN, proxy or Tor hides/)
})
