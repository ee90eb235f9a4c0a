import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ConfigInput } from '@sallyport/engine'
import { freePort, NO_NEIGHBOURS, NO_REDIS, startRedis } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { passOf, redeem, solutionOf, visit } from '../hosts/challenge-client.ts'
import { NO_DATA } from '../no-data.ts'

/*
 * Four proxies that ask, behind a balancer that gives each request to the next of them: with one Redis they are as exact as one; with a
 * secret alone they know each other's questions and passes, and each counts alone.
 */
const COMMAND = fileURLToPath(new URL('bin/sallyport.mjs', import.meta.resolve('sallyport/package.json')))
const NO_HAPROXY = NO_NEIGHBOURS || (spawnSync('haproxy', ['-v']).error !== undefined && 'haproxy is not installed')

const COMMON = {
  data: { refresh: false, sources: NO_DATA },
  trustProxy: ['loopback'],
  demo: true,
  challenge: { secret: 'a secret that all of these machines know' },
  policy: { preset: 'observe', rules: [{ id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } }] },
  log: { requests: 'off' },
  // Four machines on one: they answer later than each where it has a processor.
  timeouts: { counting: '5s' },
  limits: { eventLoopDelay: '1m' },
} satisfies ConfigInput

interface Place {
  readonly port: number
}

/** Starts a program, and waits until it says something. */
async function start(t: Test, command: string, args: readonly string[], says = ''): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  let said = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    said += bytes
  })
  while (!said.includes(says)) {
    if (child.exitCode !== null) throw new Error(said)
    await delay(20)
  }
  return child
}

/** Four machines, each with a dataDir of its own, and the balancer before them. */
async function balanced(
  t: Test,
  more: Partial<ConfigInput>,
): Promise<{ readonly at: Place; readonly machines: readonly Place[] }> {
  const folder = t.testdir()
  const machines = await Promise.all(
    [1, 2, 3, 4].map(async (number) => {
      const port = await freePort()
      const config = join(folder, `${number}.json`)
      const own = { listen: `127.0.0.1:${port}`, admin: '127.0.0.1:0', dataDir: join(folder, `data-${number}`) }
      writeFileSync(config, JSON.stringify({ ...COMMON, ...more, ...own }))
      await start(t, process.execPath, [COMMAND, 'proxy', '--config', config], 'Listening on')
      return { port }
    }),
  )
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  const servers = machines.map(({ port }, at) => `  server m${at} 127.0.0.1:${port}`).join('\n')
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend site
  bind 127.0.0.1:${port}
  default_backend machines
backend machines
  balance roundrobin
  option forwardfor
${servers}
`,
  )
  await start(t, 'haproxy', ['-f', file, '-db'])
  const at = { port }
  while ((await visit(at).catch(() => undefined)) === undefined) await delay(20)
  return { at, machines }
}

/** The answers to a hundred replays of one solution at one time, from many addresses. */
async function replays({ port }: Place, solution: string): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) => redeem({ port }, solution, { address: `93.184.216.${at + 1}` })),
  )
  return answers.filter(({ status }) => status === 204).length
}

t.test('four machines behind HAProxy, with one Redis', { skip: NO_HAPROXY || NO_REDIS }, async (t) => {
  const { url } = await startRedis(t)
  const { at, machines } = await balanced(t, { redis: url })
  // Issued at one and redeemed at the next.
  const cookie = await passOf(at)
  for (let call = 0; call < 8; call++) t.not((await visit(at, { cookie })).status, 403)
  for (const machine of machines) t.not((await visit(machine, { cookie })).status, 403)
  t.equal(await replays(at, solutionOf(await visit(at))), 1, 'one of a hundred over all four')
})

t.test('four machines behind HAProxy, with a secret and nothing else', { skip: NO_HAPROXY }, async (t) => {
  const { at, machines } = await balanced(t, {})
  const cookie = await passOf(at)
  for (const machine of machines) t.not((await visit(machine, { cookie })).status, 403, 'a pass holds on all')
  t.equal((await visit(at)).status, 403)
  const given = await replays(at, solutionOf(await visit(at)))
  t.ok(given >= 1 && given <= 4, `${given} passes of one question: one a machine at most`)
})
