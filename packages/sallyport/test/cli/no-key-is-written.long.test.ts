import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { openPostgres } from '@sallyport/engine'
import { listening, NO_POSTGRES, startPostgres } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { serve, visit, workspace } from './command.ts'

interface Store {
  readonly url?: string | undefined
  readonly workers?: string | undefined
  /** Takes the store away from the running proxy. */
  fail?(): Promise<void>
  /** Everything the store holds, as text. */
  contents(): Promise<string>
}

/** A run with every way in which a key comes in, right and wrong; gives all that was written anywhere. */
async function fullRun(t: Test, store: Store) {
  const lines = store.url ? ['demo: true', `store: ${store.url}`] : ['demo: true']
  const { command, object, config, folder } = workspace(t, lines)
  const [key, revoked, rotated] = await Promise.all(Array.from({ length: 3 }, () => object('keys', 'create')))
  const replacement = await object('keys', 'rotate', rotated.id)
  const written = [JSON.stringify(await command('keys', 'revoke', revoked.id))]

  const origin = createServer((_, response) => response.end('hello'))
  const argv = ['--upstream', `http://127.0.0.1:${await listening(t, origin)}`]
  if (store.workers !== undefined) argv.push('--workers', store.workers)
  const proxy = await serve(t, config, argv)
  const { url, admin } = proxy

  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}, body?: string) => {
    const answer = await visit(`${url}${path}`, headers, body)
    // The origin answers nothing of what it was sent, so all of this is the proxy's.
    written.push(JSON.stringify(answer))
    return answer.status
  }
  const everyWay = async (text: string) => {
    const bearer = { authorization: `Bearer ${text}` }
    return [
      await ask('/v1/user/limits', bearer),
      await ask('/v1/ip/lookup', { ...bearer, 'content-type': 'application/json' }, '{"target":"192.0.2.1"}'),
      await ask('/v1/ip/lookup', { ...bearer, 'content-type': 'application/json' }, `{"target":"${text}"}`),
      await ask('/v1/ip/lookup', bearer, `{"broken":"${text}`),
      await ask('/v1/vpn/192.0.2.1', { authorization: `Basic ${text}` }),
      await ask('/v1/vpn/192.0.2.1', { authorization: `Bearer ${text}, Bearer ${text}` }),
      await ask('/v1/vpn/192.0.2.1', { authorization: `Bearer ${text}x` }),
      await ask(`/v1/vpn/${text}`, bearer),
      await ask(`/v1/nothing/${text}?key=${text}`, bearer),
      await ask(`/v1/vpn/192.0.2.1?key=${text}`),
      await ask(`/page?key=${text}`, { ...bearer, 'x-api-key': text }),
    ]
  }
  const keys: readonly string[] = [key.key, revoked.key, rotated.key, replacement.key]
  t.same((await everyWay(key.key)).slice(0, 2), [200, 200])
  t.equal(await ask('/v1/user/limits', { authorization: `Bearer ${replacement.key}` }), 200)
  for (const text of [revoked.key, rotated.key]) t.same((await everyWay(text)).slice(0, 2), [401, 401])
  for (const path of ['/healthz', '/readyz', '/metrics']) written.push((await visit(`${admin}${path}`)).text)
  for (const argv of ['keys list', 'accounts list', 'keys list --json'])
    written.push(JSON.stringify(await command(...argv.split(' '))))
  written.push(await store.contents())
  // Failures are reported, and that is where a key would slip out.
  await once(origin.close(), 'close')
  await store.fail?.()
  await everyWay(key.key)

  await proxy.stop('SIGINT')
  written.push(proxy.out(), proxy.err())
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  written.push(...files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')))
  return { keys, written: written.join('\n') }
}

function holdsNone(t: Test, { keys, written }: Awaited<ReturnType<typeof fullRun>>): void {
  for (const key of keys) {
    t.ok(written.includes(key.slice(3, 11)), 'the search finds what is there: the public id')
    t.notOk(written.includes(key.slice(12)), 'and not the secret')
    t.notOk(written.includes(key.slice(-24)), 'nor the end of it')
  }
}

t.test('no key is in anything that a full run writes, on SQLite', async (t) => {
  holdsNone(t, await fullRun(t, { workers: '1', contents: async () => '' }))
})

t.test('no key is in anything that a full run writes, on PostgreSQL', { skip: NO_POSTGRES }, async (t) => {
  const server = await startPostgres(t)
  const url = await server.database()
  const outcome = await fullRun(t, {
    url,
    fail: () => server.kill(),
    async contents() {
      const postgres = await openPostgres(url)
      const tables = ['account', 'api_key', 'usage'].map((table) => postgres.query(`SELECT * FROM ${table}`))
      const rows = (await Promise.all(tables)).map(({ rows }) => rows)
      await postgres.close()
      return JSON.stringify(rows)
    },
  })
  t.match(outcome.written, /ECONNREFUSED/, 'and the outage was reported')
  holdsNone(t, outcome)
})
