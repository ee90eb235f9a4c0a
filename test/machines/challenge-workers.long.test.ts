import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { readCookie, readSolution, redeem, visit } from '../hosts/challenge-client.ts'
import { NO_DATA } from '../no-data.ts'
import { started } from '../started.ts'

/* The real command with two workers, which take connections by turns: questions, passes and the funnel are of both. */
/** Another client: one may try thirty solutions a minute. */
const NEXT = { address: '93.184.216.35' }

const BIN = 'packages/sallyport/bin/sallyport.mjs'

t.test('two workers of the command ask, answer and count as one, over a reload and a restart', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-workers-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }))
  const [port, adminPort] = [await freePort(), await freePort()]
  const at = { port }
  const file = join(folder, 'test.json')
  const write = (id: string): void => {
    const rules = [{ id, match: {}, action: 'challenge', challenge: { level: 2 } }]
    const config = {
      listen: `127.0.0.1:${port}`,
      admin: `127.0.0.1:${adminPort}`,
      dataDir: join(folder, 'state'),
      data: { refresh: false, sources: NO_DATA },
      trustProxy: ['loopback'],
      demo: true,
      policy: { preset: 'observe', rules },
    }
    writeFileSync(file, JSON.stringify(config))
  }
  const command = () =>
    started(
      t,
      [BIN, 'proxy', '--config', file, '--workers', '2'],
      { SALLYPORT_LIMITS_EVENT_LOOP_DELAY: '1m' },
      'Health',
    )
  /** Counts the challenges of a rule with an outcome over all workers. */
  const countChallenges = async (rule: string, outcome: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
    const lines = text.split('\n').filter((line) => line.startsWith('sallyport_challenges_total{'))
    const ours = lines.filter((line) => line.includes(`rule="${rule}"`) && line.includes(`outcome="${outcome}"`))
    return ours.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }
  const counts = async (rule: string, outcome: string, wanted: number): Promise<void> => {
    while ((await countChallenges(rule, outcome)) < wanted) await delay(50)
    t.equal(await countChallenges(rule, outcome), wanted, `${outcome} of ${rule}`)
  }
  /** Eight of them, so that each worker has some whichever takes the first. */
  const holds = async (cookie: string): Promise<void> => {
    for (let call = 0; call < 8; call++) t.equal((await visit(at, { cookie, target: '/' })).status, 200)
  }

  write('ask')
  const first = await command()
  const passes: string[] = []
  for (let question = 0; question < 4; question++) {
    const solution = readSolution(await visit(at))
    // Both workers get the solution at one time, and one worker gives the pass.
    const answers = await Promise.all(Array.from({ length: 6 }, () => redeem(at, solution)))
    const given = answers.filter(({ status }) => status === 204)
    t.equal(given.length, 1)
    passes.push(...given.map(readCookie))
  }
  for (const cookie of passes) await holds(cookie)
  await counts('ask', 'asked', 4)
  await counts('ask', 'solved', 4)
  await counts('ask', 'spent', 20)

  const open = readSolution(await visit(at))
  write('ask-again')
  await first.reload()
  // Workers take connections by turns: where four in a row are asked by the new rule, each has it.
  for (let asked = 0, grown = 0; grown < 4; ) {
    for (let call = 0; call < 4; call++) await visit(at)
    const now = await countChallenges('ask-again', 'asked')
    grown = now - asked
    asked = now
  }
  const given = await redeem(at, open)
  t.equal(given.status, 204, 'a question of before the reload')
  await holds(readCookie(given))
  for (let call = 0; call < 8; call++) t.equal((await redeem(at, open, NEXT)).status, 403, 'is spent at both')

  const unanswered = readSolution(await visit(at))
  t.equal(await first.stop(), 0)
  const second = await command()
  for (const cookie of passes) await holds(cookie)
  t.equal((await redeem(at, open, NEXT)).status, 403, 'what was spent before the restart')
  t.equal((await redeem(at, unanswered, NEXT)).status, 204, 'what was asked before the restart')
  await counts('ask-again', 'solved', 1)
  t.equal(await second.stop(), 0)
})
