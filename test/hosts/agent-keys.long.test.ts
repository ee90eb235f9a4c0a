import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { signer } from '@sallyport/core/signing'
import { freePort } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { generateNonce, signatureHeaders } from 'web-bot-auth'
import { signerFromJWK } from 'web-bot-auth/crypto'
import { certificate } from '../certificate.ts'
import { NO_DATA } from '../no-data.ts'
import { BIN, started } from '../started.ts'
import { startOrigin } from './proxy.ts'

/* Two sites by their commands, each with a bot of its own, of which each lets the other's alone in. */
const PATH = '/.well-known/http-message-signatures-directory'

/** Writes the configuration of a site that lets the bot of `other` alone in, and returns what runs and asks it. */
async function writeSite(
  t: Test,
  { folder, origin, other, upstream }: Readonly<Record<'folder' | 'origin' | 'other' | 'upstream', string>>,
) {
  const files = certificate(folder, 5)
  const file = join(folder, 'sallyport.json')
  const config = {
    listen: new URL(origin).host,
    admin: '127.0.0.1:0',
    dataDir: join(folder, 'data'),
    data: { refresh: false, sources: NO_DATA },
    upstream,
    tls: { certificates: [files] },
    trustProxy: ['loopback'],
    webBotAuth: { agents: [other] },
    net: { allowPrivate: ['127.0.0.0/8'] },
    limits: { eventLoopDelay: '1m' },
    policy: {
      preset: 'observe',
      rules: [{ id: 'bot', match: { identity: [other] }, action: 'allow' }],
      default: 'block',
    },
  }
  writeFileSync(file, JSON.stringify(config))
  return {
    cert: files.cert,
    start: (ca: string) => started(t, [BIN, 'proxy', '--config', file], { NODE_EXTRA_CA_CERTS: ca }, 'Listening on'),
    keys: (...argv: readonly string[]) =>
      execFileSync(process.execPath, [BIN, 'keys', 'agent', ...argv, '--config', file], { encoding: 'utf8' }),
    read: () => JSON.parse(readFileSync(join(folder, 'data', 'agent-keys.json'), 'utf8')),
    async ask(path: string, headers: Readonly<Record<string, string>> = {}) {
      const fields = { 'x-forwarded-for': '8.8.8.8', ...headers }
      const options = { ca: readFileSync(files.cert), agent: false, headers: fields }
      const [response] = (await once(request(`${origin}${path}`, options).end(), 'response')) as [IncomingMessage]
      return { status: response.statusCode, body: await text(response) }
    },
  }
}

t.test('two sites know the bots of each other by the keys that each publishes', { timeout: 240_000 }, async (t) => {
  const upstream = await startOrigin(t, (_, response) => response.end('the site'))
  const [one, two] = [`https://127.0.0.1:${await freePort()}`, `https://127.0.0.1:${await freePort()}`] as const
  const folder = t.testdir({ one: {}, two: {} })
  const first = await writeSite(t, { folder: join(folder, 'one'), origin: one, other: two, upstream })
  const second = await writeSite(t, { folder: join(folder, 'two'), origin: two, other: one, upstream })
  const published = await second.start(first.cert)
  t.equal((await second.ask(PATH)).status, 403, 'without a key the path is the site’s')
  t.match(second.keys('create', two), new RegExp(`signs\nPrivate keys are in .*${two}${PATH}`))
  t.match(second.keys('list'), /signs/)
  t.equal((await second.ask(PATH)).status, 200, 'the running proxy has seen the file')
  first.keys('create', one)
  await first.start(second.cert)
  // Its own first look at the other site found no key there.
  await published.stop()
  await second.start(first.cert)

  for (const [from, to, origin] of [
    [second, first, one],
    [first, second, two],
  ] as const) {
    const url = `${origin}/a?b=c`
    const visit = async () => to.ask('/a?b=c', signer({ key: from.read() }).signFields({ url }))
    while ((await visit()).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
    t.match(await visit(), { status: 200, body: 'the site' })
    t.equal((await to.ask('/a?b=c')).status, 403)
    const { agent, keys } = from.read()
    const headers = { 'signature-agent': `"${agent}"` }
    const now = Date.now()
    const dates = { created: new Date(now - 5_000), expires: new Date(now + 60_000), nonce: generateNonce() }
    const theirs = await signatureHeaders({ method: 'GET', url, headers }, await signerFromJWK(keys[0]), dates)
    t.equal((await to.ask('/a?b=c', { ...headers, ...theirs })).status, 200, 'signed by another implementation')
  }

  t.notMatch(first.keys('rotate', '--json', '--overlap', '2h'), '"d"', 'no private part is printed')
  const { keys } = JSON.parse((await first.ask(PATH)).body)
  t.match(keys, [{ exp: Number }, { nbf: Number }], 'the running proxy publishes the successor')
  t.notMatch(JSON.stringify(keys), '"d"')
  const fields = signer({ key: first.read() }).signFields({ url: `${two}/` })
  t.equal((await second.ask('/', fields)).status, 200, 'the old key still signs')
  t.throws(() => second.keys('rotate', '--overlap', 'x'), { message: /Use a duration/ })
})
