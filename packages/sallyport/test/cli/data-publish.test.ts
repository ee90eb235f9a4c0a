import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run, workspace } from './command.ts'

/** A web server for a folder. */
async function serve(t: Test, folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const path = join(folder, request.url ?? '')
    if (existsSync(path)) response.end(readFileSync(path))
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('data publish writes what data.from reads, with a key that it makes', async (t) => {
  const { folder, config } = workspace(t)
  const [to, key] = [join(folder, 'www'), join(folder, 'publish.pem')]
  const publish = (...more: readonly string[]) => run('data', 'publish', to, '--key', key, '--config', config, ...more)
  const first = await publish('--json')
  t.match(first, { code: 0, err: /publish\.pem was made\./ })
  const { fromKey, version, ...rest } = JSON.parse(first.out)
  t.match(fromKey, /^[\w-]{43}$/)
  t.match(rest, { files: 1, written: 1, keyMade: true })
  t.equal(statSync(key).mode & 0o777, 0o600)
  const second = await publish()
  t.match(second, { code: 0, out: /^Version \d+ is published in .+: 1 file, 0 of them new, / })
  t.match(second.out, `{ from: URL, fromKey: ${fromKey} }`)
  t.ok(Number(/^Version (\d+)/.exec(second.out)?.[1]) > version)

  const url = await serve(t, to)
  const reader = workspace(t, [`  from: ${url}`, `  fromKey: ${fromKey}`, 'net: { allowPrivate: [127.0.0.1/32] }'])
  const asReader = (...argv: readonly string[]) => run(...argv, '--config', reader.config)
  t.match(await asReader('data', 'status'), { out: /^published +absent$/m, err: /data update fetches it/ })
  t.match(await asReader('data', 'update'), { code: 0, out: 'published: updated, 1 entry\n' })
  const { out } = await asReader('data', 'status')
  t.match(out, /^published +\d{4}-\d\d-\d\d +loaded +0 min ago/m)
  t.match(out, /^ {4}Data that 127\.0\.0\.1:\d+ publishes; generation \d+; as of each source$/m)
  t.match(await asReader('data', 'compile'), { code: 2, err: /data\.from is set: nothing is compiled here/ })
  t.match(await asReader('data', 'publish', to, '--key', key), { code: 2, err: /data\.from is set/ })
})

t.test('data publish says what it cannot use', async (t) => {
  const { folder, config } = workspace(t)
  const publish = (to: string, ...more: readonly string[]) => run('data', 'publish', to, '--config', config, ...more)
  const key = join(folder, 'key.pem')
  t.match(await publish(folder), { code: 2, err: /--key <file>/ })
  t.match(await publish(folder, '--key', key, '--valid', '1s'), {
    code: 2,
    err: /--valid must be a time from 10m to 365d/,
  })
  t.match(await publish('s3://x', '--key', key), { code: 2, err: /s3:\/\/x: must be s3:\/\/BUCKET\/PATH/ })
  t.match(await publish(folder, '--key', config), {
    code: 2,
    err: /^sallyport: --key: .+test\.yaml (may be read|is not)/,
  })
})

t.test('a fault of the system that a command does not expect is one sentence', async (t) => {
  const { folder, config } = workspace(t)
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const [to, key] = [join(file, 'www'), join(folder, 'k.pem')]
  const { code, err } = await run('data', 'publish', to, '--key', key, '--config', config)
  t.equal(code, 1)
  t.match(err, /^sallyport: \S+ does not exist\.$/m)
  t.notMatch(err, /^ +at /m, 'no stack')
})
