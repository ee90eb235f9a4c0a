import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compilePolicy, createCounter, decide, eventPolicy } from '@sallyport/core'
import { createFakeClock, createFakeCounts } from '@sallyport/core/testing'
import { checkPolicyText, open, type Sallyport } from '@sallyport/engine'
import { main } from 'sallyport/cli'
import t, { type Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { WANTS } from './wants.ts'
import { type Asking, WISHES } from './wishes.ts'

/* Each policy of the tables of wants and wishes decides one request and leaves another alone, on the embedded data. */

/** The id of the rule that decides the last of the requests. */
async function decidedBy(sallyport: Sallyport, text: string, asking: Asking): Promise<string> {
  const { peer, headers = {}, times = 1, status, at = '2026-11-26T12:00:00Z', load = 0, login, ...about } = asking
  const { policy, faults, warnings } = checkPolicyText(`preset: observe\n${text}\n`)
  // The proxy alone has no users.
  const meant = warnings.filter(({ message }) => !message.startsWith('the rule counts by user'))
  t.same([faults, meant], [[], []], text)
  const loaded = { latch: (bound: number) => () => load >= bound, now: () => load }
  const compiled = compilePolicy(policy ?? { preset: 'observe', rules: [] }, { load: loaded })
  const fields = Object.entries({ Host: 'site.example', ...headers }).flat()
  const request = { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields, ...about } as const
  const clock = createFakeClock(at)
  const counter = createCounter({ counts: createFakeCounts(clock), flights: 'test' })
  const said = { identifiers: ['ada'], mail: {}, account: {}, reasons: [] }
  const event = login && { event: { event: 'login', outcome: login, ...said } as const }
  const inspection = { ...sallyport.inspect(request), at, ...event }
  const rules = event ? eventPolicy(compiled) : compiled
  let id = ''
  for (let time = 0; time < times; time++) {
    const made = decide(rules, inspection, { mode: 'enforce', request })
    const { decision, ended } = await counter.count(made, request.fields)
    ended?.(status)
    id = decision.reasons[0]?.id ?? ''
  }
  return id
}

async function openService(t: Test, allowlist: readonly string[] = []): Promise<Sallyport> {
  const quiet = { data: { refresh: false }, dns: { servers: ['127.0.0.1:9'] } }
  const config = { policy: { allowlist: [...allowlist] }, dataDir: DATA_DIR, ...quiet }
  const sallyport = await open(config, { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  return sallyport
}

t.test('twenty wishes: the rule of each decides what is meant, and nothing else', async (t) => {
  const sallyport = await openService(t)
  t.equal(WISHES.length, 20)
  for (const { wish, rules, met, unmet } of WISHES) {
    const text = ['rules:', ...rules.map((rule, index) => `  - { id: rule-${index + 1}, ${rule} }`)].join('\n')
    t.equal(await decidedBy(sallyport, text, met), `policy:rule-${rules.length}`, wish)
    t.equal(await decidedBy(sallyport, text, unmet), 'policy:default', `not: ${wish}`)
  }
})

t.test('the policies of README decide what is wanted, and nothing else', async (t) => {
  const anybodys = await openService(t)
  for (const { want, policy, rule, met, unmet } of WANTS) {
    const { allowlist } = checkPolicyText(policy).policy ?? {}
    const sallyport = allowlist === undefined ? anybodys : await openService(t, allowlist)
    t.equal(await decidedBy(sallyport, policy, met), rule, want)
    t.equal(await decidedBy(sallyport, policy, unmet), 'policy:default', `not: ${want}`)
  }
})

t.test('the command of each row of README shows its rule, and without the row none', async (t) => {
  const shown = async (command: string, policy: string): Promise<string> => {
    const config = join(t.testdir(), 'sallyport.yaml')
    writeFileSync(config, `dataDir: ${DATA_DIR}\npolicy:\n  ${policy}\n`)
    const lines: string[] = []
    const terminal = { out: (text: string) => void lines.push(text), err: () => {} }
    const [, , ...argv] = command.split(' ')
    t.equal(await main([...argv, '--config', config], terminal), 0, command)
    return lines.join('\n')
  }
  for (const { want, policy, command, rule } of WANTS) {
    const id = rule.slice('policy:'.length)
    t.match(await shown(command, policy), id, want)
    t.notMatch(await shown(command, 'preset: low-friction'), id, want)
  }
})
