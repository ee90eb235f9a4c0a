import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { open } from '@sallyport/engine'
import { NO_REDIS, startRedis } from '@sallyport/engine/testing'
import { listener } from '@sallyport/node'
import t, { type Test } from 'tap'
import { BROWSER, readCookie, readSolution, redeem, visit } from '../hosts/challenge-client.ts'
import { running } from '../hosts/hosts.ts'
import { NO_DATA } from '../no-data.ts'

/* `strikes.then: challenge` on two machines with one Redis: a ban of one is lifted on both by what is solved at one. */
async function machine(t: Test, redis: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-banned-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }))
  const sallyport = await open({
    dataDir: join(folder, 'state'),
    data: { refresh: false, sources: NO_DATA },
    log: { requests: 'off' },
    trustProxy: ['loopback'],
    redis,
    challenge: { secret: 'a secret that both of these machines know' },
    timeouts: { counting: '5s' },
    policy: {
      preset: 'observe',
      rules: [{ id: 'secret', match: { path: ['/.env'] }, action: 'block' }],
      strikes: { count: 3, window: '10m', on: ['blocked'], for: '1h', then: 'challenge' },
    },
  })
  t.teardown(() => sallyport.close())
  const at = await running(createServer(listener(sallyport, (_, res) => res.end('welcome'))))
  t.teardown(() => at.close())
  return { port: at.port, bans: sallyport.bans }
}

/** Asks until the answer is as wanted: a machine hears of what another one did a moment later. */
async function until(asked: () => Promise<{ readonly status: number }>, status: number): Promise<void> {
  while ((await asked()).status !== status) await delay(20)
}

t.test('a ban asks on both machines, and a pass lifts it on both', { skip: NO_REDIS }, async (t) => {
  const { url } = await startRedis(t)
  const [one, other] = [await machine(t, url), await machine(t, url)]
  for (let strike = 0; strike < 3; strike++) t.equal((await visit(one, { target: '/.env' })).status, 403)
  await until(() => visit(one), 403)
  await until(() => visit(other), 403)
  t.equal((await visit(other, { address: '93.184.216.99' })).body, 'welcome', 'another client is not asked')
  const program = await visit(other, { fields: [...BROWSER.slice(0, 2), 'Accept', 'application/json'] })
  t.match([program.status, JSON.parse(program.body).error], [403, 'challenge_required'])
  const page = await visit(one)
  t.match(page.body, 'data-puzzles="32"')
  const given = await redeem(one, readSolution(page))
  t.match([given.status, given.headers['sallyport-pass']], [204, '2'])
  t.equal((await redeem(other, readSolution(page))).status, 403, 'once on both')
  const cookie = readCookie(given)
  t.equal((await visit(other, { cookie })).body, 'welcome', 'the pass of one holds on the other')
  // The ban is gone for the whole key, so that who brings no pass is let in as well.
  await until(() => visit(one), 200)
  await until(() => visit(other), 200)
  t.same([await one.bans.list(), await other.bans.list()], [[], []])
  for (let strike = 0; strike < 3; strike++) await visit(other, { target: '/.env', cookie })
  await until(() => visit(one), 403)
  t.pass('the next strikes ban again, over both')
})
