import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { type Run, type Started, start, until, workspace } from './command.ts'

const RULES = 'policy: { rules: [{ id: shut, match: { path: ["/shut"] }, action: block }] }'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** A gate that writes its decisions to standard output, and what asks it for them. */
async function gate(t: Test, lines: readonly string[] = [], ...argv: readonly string[]) {
  const { folder, config } = workspace(t, ['demo: true', RULES, `admin: 127.0.0.1:${await freePort()}`, ...lines])
  const proxy = start(t, ['proxy', '--config', config, '--listen', '127.0.0.1:0', '--trust-proxy', 'loopback', ...argv])
  await proxy.says('API key')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const visit = async (id: string, path = '/') => {
    const headers = {
      'x-forwarded-for': '192.0.2.7',
      'x-request-id': id,
      'user-agent': 'curl/8.5.0',
      connection: 'close',
    }
    await (await fetch(url + path, { headers })).text()
  }
  return { folder, config, proxy, visit }
}

/** A command in a process of its own, whose standard input is empty. */
async function command(t: Test, ...argv: readonly string[]): Promise<Run> {
  const started: Started = start(t, argv)
  const code = await started.ended
  return { code: code ?? -1, out: started.out(), err: started.err() }
}

t.test('without log.file the running gate is asked what it remembers', async (t) => {
  const { config, visit, proxy } = await gate(t)
  await visit('one', '/shut')
  await visit('two', '/open')
  await until(async () => (await command(t, 'logs', '--config', config)).out.includes('two'))
  const explained = await command(t, 'explain', '--request', 'two', '--config', config)
  t.match(explained, { code: 0, out: /GET 127\.0\.0\.1:\d+\/open/ })
  t.match(explained.out, /^reasons +policy:default, /m, 'what was allowed is remembered too')
  t.match(await command(t, 'explain', '--request', 'none', '--config', config), {
    code: 1,
    err: /the memory of the gate at 127\.0\.0\.1:\d+ has no request none\. The memory holds the last 4,000 requests/,
  })
  const logs = await command(t, 'logs', '--json', '--action', 'block', '--config', config)
  t.match(logs.err, /these requests are from the memory of the gate at/)
  t.match(JSON.parse(logs.out), { requestId: 'one', rule: 'shut', client: '192.0.2.7', userAgent: 'curl/8.5.0' })

  const following = start(t, ['logs', '--follow', '--config', config])
  await following.says('two')
  await visit('three')
  await visit('four', '/shut')
  await following.says('four')
  for (const id of ['one', 'two', 'three', 'four'])
    t.equal(following.out().split(` ${id}`).length, 2, `${id} is shown once`)
  proxy.child.kill('SIGTERM')
  await proxy.ended
  t.equal(await following.ended, 1)
  t.match(following.err(), /no gate (?:answers at|runs on) \S+ any more/)
  t.match(await command(t, 'logs', '--config', config), {
    code: 1,
    err: /^sallyport: There is no --log, log\.file is not set, and no gate runs on \S+data\. Use --log/,
  })
})

t.test('each worker says what it remembers', async (t) => {
  const { config, visit } = await gate(t, [], '--workers', '2')
  const ids = Array.from({ length: 12 }, (_, index) => `r${index}`)
  for (const id of ids) await visit(id)
  const remembered = async () => {
    const { out } = await command(t, 'logs', '--json', '--config', config)
    return out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).requestId)
  }
  await until(async () => (await remembered()).length === ids.length)
  t.same(await remembered(), ids, 'in the order of their times')
})

t.test('what is piped in is read, and an input that nobody writes to is not waited for', async (t) => {
  const { folder, config, visit } = await gate(t)
  await visit('one', '/shut')
  await until(async () => (await command(t, 'logs', '--config', config)).out.includes('one'))
  const line = {
    time: '2026-11-01T00:00:00.000Z',
    requestId: 'piped',
    path: '/',
    method: 'GET',
    host: 'a',
    status: 200,
  }
  const piping = async (input: string | Buffer | undefined, ...argv: readonly string[]) => {
    const bin = join(import.meta.dirname, '../../../bin/sallyport.mjs')
    const child = spawn(process.execPath, [bin, 'logs', '--json', '--config', config, ...argv])
    let out = ''
    child.stdout.on('data', (text) => (out += text))
    if (input !== undefined) child.stdin.end(input)
    await once(child, 'close')
    child.stdin.destroy()
    return out
  }
  const text = `${JSON.stringify({ ...line, answeredBy: 'origin', milliseconds: 1 })}\n`
  t.match(await piping(text, '--log', '-'), /"piped"/)
  t.match(await piping(gzipSync(text), '--log', '-'), /"piped"/)
  t.match(await piping(undefined), /"one"/, 'an input that stays open is not waited for')
  const file = join(folder, 'd.log')
  writeFileSync(file, text)
  t.match(await piping(undefined, '--log', file), /"piped"/)
})

t.test('an input that is refused is not waited for either', async (t) => {
  const { folder, config } = workspace(t)
  const policy = join(folder, 'policy.yaml')
  writeFileSync(policy, 'preset: observe\n')
  const bin = join(import.meta.dirname, '../../../bin/sallyport.mjs')
  const child = spawn(process.execPath, [bin, 'replay', '-', '--policy', policy, '--config', config])
  let err = ''
  child.stderr.on('data', (text) => (err += text))
  child.stdin.write(Buffer.from('28b52ffd0000', 'hex'))
  t.same(await once(child, 'close'), [1, null])
  child.stdin.destroy()
  t.match(err, /standard input is compressed with zstd/)
})

t.test('addresses are as the log has them, and a console that is off is named', async (t) => {
  const { config, visit } = await gate(t, ['log: { addresses: none }'])
  await visit('one', '/shut')
  await until(async () => (await command(t, 'logs', '--config', config)).out.includes('one'))
  t.notMatch((await command(t, 'logs', '--json', '--config', config)).out, '192.0.2.7')
  const off = workspace(t, ['console: { enabled: false }'])
  t.match(await command(t, 'logs', '--config', off.config), { code: 1, err: /console\.enabled is false/ })
})
