import { join } from 'node:path'
import t from 'tap'
import { readFences } from '../documents/fences.ts'
import { runCommand } from '../evidence/commands.ts'
import { makeFolder, writeIn } from '../started.ts'

/* The rules of the document on borders, over the embedded data, in each command that tells of regions. */

const FOLDER = makeFolder(t)

const RULES = readFences(['packages/sallyport/docs/regions.md']).find(({ text }) => text.includes('region:'))?.text
const CONFIG = writeIn(FOLDER, 'sallyport.yaml', `dataDir: ${join(FOLDER, 'data')}\ndata: { refresh: false }\n${RULES}`)

const run = (...argv: readonly string[]) => runCommand(...argv, '--config', CONFIG)

const VISITORS = { london: '86.128.10.20', dallas: '47.184.10.20', carrier: '172.56.1.1', tor: '185.220.101.10' }
const hasCities = run('lookup', VISITORS.dallas).out.includes('region         US-TX')
const skip = hasCities ? false : 'no city file is installed'

t.test('policy test expects the status of a law, and the status of another block', { skip }, async (t) => {
  const { london, dallas, carrier, tor } = VISITORS
  const expectations = [
    [london, '/adult/1', 'action: block, rule: uk-age, status: 451'],
    [dallas, '/adult/1', 'action: block, rule: texas, status: 451'],
    [carrier, '/adult/1', 'action: allow, rule: default'],
    [tor, '/adult/1', 'action: flag'],
    [london, '/', 'action: allow'],
  ] as const
  const writeTests = (name: string, rows: readonly (readonly [ip: string, path: string, expect: string])[]) => {
    const tests = rows.map(
      ([ip, path, expect], at) => `- { name: t${at}, request: { ip: ${ip}, path: ${path} }, expect: { ${expect} } }\n`,
    )
    return writeIn(FOLDER, name, `tests:\n${tests.join('')}`)
  }
  t.match(run('policy', 'test', writeTests('met.yaml', expectations)), { status: 0, out: /5 expectations met/ })
  const wrong = writeTests('wrong.yaml', [
    [london, '/adult/1', 'status: 403'],
    [london, '/', 'status: 451'],
  ])
  const said = /t0: status is 451, not 403\n[\s\S]*t1: status is none, not 451/
  t.match(run('policy', 'test', wrong), { status: 1, out: said })
  const unknown = writeTests('unknown.yaml', [['8.8.8.8', '/', 'status: 404']])
  t.match(run('policy', 'test', unknown), { status: 2, err: /expect\.status/ })
})

t.test('explain says the region, or why it is not known, and the status', { skip }, async (t) => {
  const explain = (ip: string) =>
    run('explain', writeIn(FOLDER, 'request.json', JSON.stringify({ ip, path: '/adult/1' }))).out
  const dallas =
    /^block[\s\S]*status +451, for legal reasons[\s\S]*region +US-TX, Texas, by dbip-city-v4, confidence 0\.75/
  t.match(explain(VISITORS.dallas), dallas)
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
