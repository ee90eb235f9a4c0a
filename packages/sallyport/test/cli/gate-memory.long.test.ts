import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { freePort } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { BIN, finish, visit as get, serve, start, until, workspace } from './command.ts'

const RULES = 'policy: { rules: [{ id: shut, match: { path: ["/shut"] }, action: block }] }'

/** A gate that writes its decisions to standard output, and commands in processes of their own, whose standard input is empty. */
async function openGate(t: Test, lines: readonly string[] = [], ...argv: readonly string[]) {
  const admin = `127.0.0.1:${await freePort()}`
  const { config, write } = workspace(t, ['demo: true', RULES, `admin: ${admin}`, ...lines])
  const proxy = await serve(t, config, ['--admin', admin, '--trust-proxy', 'loopback', ...argv])
  const visit = (id: string, path = '/') =>
    get(proxy.url + path, { 'x-forwarded-for': '192.0.2.7', 'x-request-id': id, 'user-agent': 'curl/8.5.0' })
  const command = (...argv: readonly string[]) => finish(start(t, [...argv, '--config', config]))
  const remembers = (id: string) => until(async () => (await command('logs')).out.includes(id))
  return { config, write, proxy, visit, command, remembers }
}

t.test('without log.file the running gate is asked what it remembers', async (t) => {
  const { config, visit, proxy, command, remembers } = await openGate(t)
  await visit('one', '/shut')
  await visit('two', '/open')
  await remembers('two')
  const explained = await command('explain', '--request', 'two')
  t.match(explained, { code: 0, out: /GET 127\.0\.0\.1:\d+\/open/ })
  t.match(explained.out, /^reasons +policy:default, /m, 'what was allowed is remembered too')
  t.match(await command('explain', '--request', 'none'), {
    code: 1,
    err: /the memory of the gate at 127\.0\.0\.1:\d+ has no request none\. The memory holds the last 4,000 requests/,
  })
  const logs = await command('logs', '--json', '--action', 'block')
  t.match(logs.err, /these requests are from the memory of the gate at/)
  t.match(JSON.parse(logs.out), { requestId: 'one', rule: 'shut', client: '192.0.2.7', userAgent: 'curl/8.5.0' })

  const following = start(t, ['logs', '--follow', '--config', config])
  await following.says('two')
  await visit('three')
  await visit('four', '/shut')
  await following.says('four')
  for (const id of ['one', 'two', 'three', 'four'])
    t.equal(following.out().split(` ${id}`).length, 2, `${id} is shown once`)
  await proxy.stop()
  t.equal(await following.ended, 1)
  t.match(following.err(), /no gate (?:answers at|runs on) \S+ any more/)
  t.match(await command('logs'), {
    code: 1,
    err: /^sallyport: There is no --log, log\.file is not set, and no gate runs on \S+data\. Use --log/,
  })
})

t.test('each worker says what it remembers, with addresses as the log has them', async (t) => {
  const { visit, command } = await openGate(t, ['log: { addresses: none }'], '--workers', '2')
  const ids = Array.from({ length: 12 }, (_, index) => `r${index}`)
  for (const id of ids) await visit(id)
  let out = ''
  const remembered = async () => {
    out = (await command('logs', '--json')).out
    const lines = out.trim().split('\n')
    return lines.map((line) => JSON.parse(line || '{}').requestId)
  }
  await until(async () => (await remembered()).length === ids.length)
  t.same(await remembered(), ids, 'in the order of their times')
  t.notMatch(out, '192.0.2.7')
  const off = workspace(t, ['console: { enabled: false }'])
  t.match(await off.command('logs'), { code: 1, err: /console\.enabled is false/ })
})

t.test('what is piped in is read, and an input that is not written or is refused is not waited for', async (t) => {
  const { config, write, visit, remembers } = await openGate(t)
  await visit('one', '/shut')
  await remembers('one')
  const piping = async (input: string | Buffer | undefined, ...argv: readonly string[]) => {
    const child = spawn(process.execPath, [BIN, ...argv, '--config', config])
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
    if (input !== undefined) child.stdin.write(input)
    if (argv[0] === 'logs' && input !== undefined) child.stdin.end()
    await once(child, 'close')
    child.stdin.destroy()
    return said
  }
  const asked = { time: '2026-11-01T00:00:00.000Z', requestId: 'piped', path: '/', method: 'GET', host: 'a' }
  const text = `${JSON.stringify({ ...asked, status: 200, answeredBy: 'origin', milliseconds: 1 })}\n`
  t.match(await piping(text, 'logs', '--json', '--log', '-'), /"piped"/)
  t.match(await piping(gzipSync(text), 'logs', '--json', '--log', '-'), /"piped"/)
  t.match(await piping(undefined, 'logs', '--json'), /"one"/, 'an input that stays open is not waited for')
  t.match(await piping(undefined, 'logs', '--json', '--log', write('d.log', text)), /"piped"/)
  const policy = write('policy.yaml', 'preset: observe\n')
  const packed = Buffer.from('28b52ffd0000', 'hex')
  t.match(await piping(packed, 'replay', '-', '--policy', policy), /standard input is compressed with zstd/)
})
