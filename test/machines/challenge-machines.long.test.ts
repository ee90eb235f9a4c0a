import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ConfigInput, open } from '@sallyport/engine'
import { freePort, NO_REDIS, startRedis } from '@sallyport/engine/testing'
import { listener } from '@sallyport/node'
import t, { type Test } from 'tap'
import { earnPass, readCookie, readSolution, redeem, visit } from '../hosts/challenge-client.ts'
import { type RunningHost, running } from '../hosts/hosts.ts'
import { makeQuietConfig } from '../hosts/without-data.ts'
import { BIN, makeFolder, started } from '../started.ts'

/* Questions and passes over four processes of one machine, four machines, restarts and reloads. */
const SECRET = 'a secret that all of these machines know'
const RULE = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } } as const

const makeConfig = (t: Test, more: Partial<ConfigInput> = {}): ConfigInput =>
  makeQuietConfig(t, { policy: { preset: 'observe', rules: [RULE] }, ...more })

type Place = Pick<RunningHost, 'port'>

/** Starts four processes and returns their ports. */
async function startFour(t: Test, config: ConfigInput, own: 'own' | 'shared'): Promise<readonly Place[]> {
  const program = fileURLToPath(new URL('challenge-app.js', import.meta.url))
  const child: ChildProcess = fork(program, [JSON.stringify(config), own])
  t.teardown(() => child.kill('SIGKILL'))
  const ports: Place[] = []
  return new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error('the application ended')))
    child.on('message', ({ port }: Place) => {
      if (ports.push({ port }) === 4) resolve(ports)
    })
  })
}

/** A service that reads its dataDir alone, and so counts in memory: another one has compiled its data. */
async function readOnly(t: Test, more: Partial<ConfigInput> = {}): Promise<ConfigInput> {
  const config = makeConfig(t, more)
  await (await open(config)).close()
  return { ...config, data: { ...config.data, readOnly: true } }
}

async function start(t: Test, config: ConfigInput) {
  const sallyport = await open(config)
  const at = await running(
    createServer(listener(sallyport, (req, res) => res.end(String(req.sallyport?.inspection.pass?.level)))),
  )
  let isOpen = true
  const close = async (): Promise<void> => {
    if (!isOpen) return
    isOpen = false
    await at.close()
    await sallyport.close()
  }
  t.teardown(close)
  return { port: at.port, close, sallyport }
}

/** A hundred replays of one solution at one time, from a hundred addresses of four networks; returns how many passes came of it. */
async function replays(machines: readonly Place[]): Promise<number> {
  const solution = readSolution(await visit(machines[0] as Place))
  const send = (_: unknown, at: number) =>
    redeem(machines[at % machines.length] as Place, solution, { address: `93.184.216.${at + 1}` })
  const answers = await Promise.all(Array.from({ length: 100 }, send))
  return answers.filter(({ status }) => status === 204).length
}

async function holdEverywhere(t: Test, machines: readonly Place[]): Promise<void> {
  t.equal(await replays(machines), 1, 'one of a hundred')
  const cookie = await earnPass(machines[1] as Place)
  for (const at of machines) t.match(await visit(at, { cookie }), { status: 200, body: '2' })
  const solution = readSolution(await visit(machines[2] as Place))
  const given = await redeem(machines[3] as Place, solution)
  t.equal(given.status, 204, 'a question of one, answered at another')
  for (const at of machines) t.equal((await redeem(at, solution)).status, 403, 'and spent on all')
  for (let network = 1; network <= 8; network++)
    await visit(machines[network % 4] as Place, { cookie, address: `8.8.${network}.1` })
  const isLost = async (at: Place): Promise<boolean> => {
    // A process hears of it at the latest at a network that is new to it.
    const elsewhere = { cookie, address: `9.9.${at.port % 250}.1` }
    await visit(at, elsewhere)
    await new Promise((resolve) => setTimeout(resolve, 50))
    return (await visit(at, elsewhere)).status === 403
  }
  for (const at of machines) t.ok(await isLost(at), 'a pass of too many networks is lost on all')
}

t.test('four processes of one machine', async (t) => {
  await holdEverywhere(t, await startFour(t, makeConfig(t), 'shared'))
})

t.test('four machines with one Redis', { skip: NO_REDIS }, async (t) => {
  const { url } = await startRedis(t)
  await holdEverywhere(t, await startFour(t, makeConfig(t, { redis: url, challenge: { secret: SECRET } }), 'own'))
})

t.test('one process with its counts in memory', async (t) => {
  const at = await start(t, await readOnly(t))
  t.equal(await replays([at]), 1)
})

t.test('while Redis is away a pass holds five minutes', { skip: NO_REDIS }, async (t) => {
  const redis = await startRedis(t)
  const more = { redis: redis.url, challenge: { secret: SECRET }, timeouts: { counting: '100ms' } }
  const at = await start(t, makeConfig(t, more))
  const solution = readSolution(await visit(at))
  await redis.kill()
  const given = await redeem(at, solution)
  t.equal(given.status, 204)
  t.match(given.headers['set-cookie'], /Max-Age=300;/)
})

t.test('over a restart passes hold, open questions may be answered, and what was spent stays spent', async (t) => {
  const config = makeConfig(t)
  const before = await start(t, config)
  const cookie = await earnPass(before)
  const [spent, unanswered] = [readSolution(await visit(before)), readSolution(await visit(before))]
  t.equal((await redeem(before, spent)).status, 204)
  await before.close()
  const after = await start(t, config)
  t.equal((await visit(after, { cookie })).status, 200)
  t.equal((await redeem(after, spent)).status, 403)
  t.equal((await redeem(after, unanswered)).status, 204)
})

t.test('over a restart that forgets, no question of before is answered', async (t) => {
  const config = await readOnly(t, { challenge: { secret: SECRET } })
  const before = await start(t, config)
  const [cookie, unanswered] = [await earnPass(before), readSolution(await visit(before))]
  await before.close()
  const after = await start(t, config)
  t.equal((await visit(after, { cookie })).status, 200)
  t.equal(JSON.parse((await redeem(after, unanswered)).body).details.reason, 'expired')
})

t.test('two workers of the command ask and answer as one, also after a restart', async (t) => {
  const at = { port: await freePort() }
  const places = { listen: `127.0.0.1:${at.port}`, admin: `127.0.0.1:${await freePort()}`, demo: true }
  const file = join(makeFolder(t), 'test.json')
  writeFileSync(file, JSON.stringify({ ...makeConfig(t), ...places }))
  const argv = [BIN, 'proxy', '--config', file, '--workers', '2']
  const command = () => started(t, argv, { SALLYPORT_LIMITS_EVENT_LOOP_DELAY: '1m' }, 'Health')
  const first = await command()
  const [passes, spent]: [string[], string[]] = [[], []]
  for (let question = 0; question < 4; question++) {
    const solution = readSolution(await visit(at))
    // The workers take connections by turns, so both get it.
    const answers = await Promise.all(Array.from({ length: 6 }, () => redeem(at, solution)))
    const given = answers.filter(({ status }) => status === 204)
    t.equal(given.length, 1, 'one of six')
    passes.push(...given.map(readCookie))
    spent.push(solution)
  }
  const hold = async (): Promise<void> => {
    for (const cookie of passes)
      for (let call = 0; call < 8; call++) t.equal((await visit(at, { cookie, target: '/' })).status, 200)
  }
  await hold()
  t.equal(await first.stop(), 0)
  const second = await command()
  await hold()
  // Another client: one may try thirty solutions a minute.
  for (const solution of spent) t.equal((await redeem(at, solution, { address: '93.184.216.35' })).status, 403)
  t.equal(await second.stop(), 0)
})

t.test('a reload in the middle of a question, and a secret that is changed', async (t) => {
  const config = makeConfig(t, { challenge: { secret: SECRET } })
  const at = await start(t, config)
  const solution = readSolution(await visit(at))
  await at.sallyport.reload({ ...config, policy: { preset: 'observe', rules: [{ ...RULE, id: 'another' }] } })
  const given = await redeem(at, solution)
  t.equal(given.status, 204)
  const cookie = readCookie(given)
  t.equal((await visit(at, { cookie })).status, 200)
  const unanswered = readSolution(await visit(at))
  await at.close()
  const other = 'another secret, as long as it has to be'
  const rotated = await start(t, { ...config, challenge: { secret: other, previousSecret: SECRET } })
  t.equal((await visit(rotated, { cookie })).status, 200)
  t.equal((await redeem(rotated, unanswered)).status, 204)
  await rotated.close()
  const without = await start(t, { ...config, challenge: { secret: other } })
  t.equal((await visit(without, { cookie })).status, 403)
})

t.test('a policy that asks, over machines and without a secret, is refused at start in one sentence', async (t) => {
  const message = `challenge.secret: is missing: the rule "ask" challenges, and all processes need one secret to verify each other's passes`
  const limit = { key: 'pass' as const, max: 5, window: '1h' }
  for (const rule of [{}, { monitor: true }, { limit }]) {
    for (const more of [{ redis: 'redis://127.0.0.1:1' }, { store: 'postgres://127.0.0.1:1/x' }]) {
      const policy = { rules: [{ id: 'ask', match: {}, action: 'challenge' as const, ...rule }] }
      await t.rejects(open(makeConfig(t, { ...more, policy })), { code: 'invalid_config', message })
    }
  }
})
