import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { LOOPBACK, run, type Started, serve, start, until, visit, workspace } from './command.ts'

const SHUT = 'policy: { rules: [{ id: shut, match: { path: ["/shut/**"] }, action: block }] }\n'

/** Writes a configuration whose policy shuts a path. */
function shutProxy(t: Test, { watch = false } = {}) {
  const { config, folder } = workspace(t, ['demo: true'])
  const text = `${readFileSync(config, 'utf8')}${watch ? 'watch: true\n' : ''}${SHUT}`
  return { folder, config, text }
}

async function serving(t: Test, config: string) {
  const proxy = await serve(t, config, [], 'Listening')
  const status = async (path = '/shut/door'): Promise<number> => (await visit(`${proxy.url}${path}`)).status
  return { proxy, status }
}

/** Waits for one more line of a reload, and returns it. */
async function nextLine(proxy: Pick<Started, 'child' | 'err'>, act: () => unknown): Promise<string> {
  const lines = (): readonly string[] => proxy.err().match(/^.*(?:configuration reloaded|reload rejected).*$/gm) ?? []
  const before = lines().length
  await act()
  await until(() => lines().length > before || proxy.child.exitCode !== null)
  return lines().at(-1) ?? ''
}

t.test('a file that is empty, commented or half-written takes nothing away', async (t) => {
  const { config, text } = shutProxy(t)
  writeFileSync(config, text)
  const { proxy, status } = await serving(t, config)
  const hup = () => proxy.child.kill('SIGHUP')
  t.equal(await status(), 403)
  const commented = text.replace(/^/gm, '# ')
  for (const bad of ['', commented, text.slice(0, -20)]) {
    writeFileSync(config, bad)
    t.match(await nextLine(proxy, hup), /configuration unchanged: .*test\.yaml/, JSON.stringify(bad.slice(-20)))
    t.equal(await status(), 403, JSON.stringify(bad.slice(-20)))
  }
  t.match(await nextLine(proxy, () => writeFileSync(config, text) ?? hup()), /reloaded: nothing has changed\.$/)

  const route = 'routes: [{ host: a.example, upstreams: ["https://127.0.0.1:1"], ca: /no/ca.pem }]'
  for (const [line, said] of [
    [route, /configuration unchanged: .*routes\.0\.ca: \/no\/ca\.pem does not exist/],
    ['refusal: { template: /dev/zero }', /configuration unchanged: .*refusal\.template: \/dev\/zero is not a regular/],
  ] as const) {
    writeFileSync(config, `${text.replace(SHUT, '')}${line}\n`)
    t.match(await nextLine(proxy, hup), said)
    t.equal(await status(), 403, 'the policy beside a file that cannot be used is not taken over either')
  }

  // The file as a full disk leaves it: a configuration without the rule, which ends within a line.
  const long = text.replace('policy:', '# nobody goes there\npolicy:')
  writeFileSync(config, long)
  t.match(await nextLine(proxy, hup), /reloaded: nothing has changed\.$/)
  truncateSync(config, long.indexOf(' goes there'))
  t.match(await nextLine(proxy, hup), /configuration unchanged: .* is the configuration in force, truncated/)
  t.equal(await status(), 403)

  rmSync(config)
  t.match(await nextLine(proxy, hup), /configuration unchanged: .* does not exist/)
  writeFileSync(`${config}.new`, '')
  renameSync(`${config}.new`, config)
  t.match(await nextLine(proxy, hup), /configuration unchanged: .*has no keys/)
  t.equal(await status(), 403)
})

t.test('a slow writer in place is waited for', async (t) => {
  const { config, text } = shutProxy(t)
  writeFileSync(config, text)
  const { proxy, status } = await serving(t, config)
  const seen = new Set<number>()
  const line = await nextLine(proxy, async () => {
    // Each beginning is a configuration without the rule.
    const parts = [text.slice(0, -SHUT.length), 'mode: enforce\n', 'paths: strict\n', SHUT.replace('shut', 'shut-2')]
    writeFileSync(config, '')
    proxy.child.kill('SIGHUP')
    for (const part of parts) {
      seen.add(await status())
      writeFileSync(config, part, { flag: 'a' })
      await delay(700)
    }
    while (!/policy\.rules/.test(proxy.err())) seen.add(await status())
  })
  t.match(line, /reloaded: paths \(added\), policy\.rules applied\.$/)
  t.same([...seen], [403])
})

t.test('a configuration that was found is not forgotten where it is away', async (t) => {
  const { folder, text } = shutProxy(t)
  const file = join(folder, 'sallyport.yaml')
  writeFileSync(file, text)
  const shell = ['/bin/sh', '-c', 'cd "$0" && exec "$@"', folder]
  const proxy = start(t, ['proxy', ...LOOPBACK], {}, {}, shell)
  await proxy.says('Listening')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  t.match(proxy.err(), /^Using sallyport\.yaml in this directory; flags override it\.$/m)
  renameSync(file, `${file}.bak`)
  const line = await nextLine(proxy, () => proxy.child.kill('SIGHUP'))
  t.match(line, /configuration unchanged: .*sallyport\.yaml does not exist/)
  t.equal((await visit(`${url}/shut/door`)).status, 403)
})

t.test('the line of a reload names each key, what is removed, and no value', async (t) => {
  const { config, text, folder } = shutProxy(t)
  const [secret, page] = [join(folder, 'secret'), join(folder, 'page.html')]
  writeFileSync(secret, 'first-secret-of-thirty-two-characters')
  writeFileSync(page, '{{title}} one')
  const more = [
    `handoff: { keys: [{ id: a, secret: "file:${secret}" }] }`,
    `refusal: { template: ${page}, contact: a }`,
    'upstream: http://127.0.0.1:1',
    'admin: 127.0.0.1:0',
    'console: { readToken: 0123456789abcdefgh }',
  ]
  writeFileSync(config, `${text}${more.join('\n')}\n`)
  const { proxy, status } = await serving(t, config)
  t.equal(await status('/'), 502)
  const hup = () => proxy.child.kill('SIGHUP')
  writeFileSync(secret, '')
  t.match(await nextLine(proxy, hup), /configuration unchanged: .*handoff\.keys/)
  writeFileSync(secret, 'other-secret-of-thirty-two-characters')
  writeFileSync(page, '')
  t.match(await nextLine(proxy, hup), /configuration unchanged: refusal\.template: .*page\.html is empty/)
  writeFileSync(page, '{{title}} two')
  const line = await nextLine(proxy, hup)
  t.match(line, new RegExp(`reloaded: handoff\\.keys, ${page} applied\\.$`))
  writeFileSync(config, `${text}${more.slice(0, 2).join('\n').replace(', contact: a', '')}\ntimeouts: { drain: 1s }\n`)
  const removed = 'upstream \\(removed\\), refusal\\.contact \\(removed\\), timeouts\\.drain applied'
  const restart = 'console\\.readToken \\(removed\\) needs a restart\\.$'
  t.match(await nextLine(proxy, hup), new RegExp(`reloaded: ${removed}; ${restart}`))
  t.equal(await status('/'), 404, 'the origin is gone')
  t.notMatch(proxy.err(), /secret-of|0123456789abc/)
})

t.test('a start with a file without keys is refused, and says so', async (t) => {
  const { write } = workspace(t)
  const empty = write('empty.yaml', '# upstream: http://127.0.0.1:3000\n')
  const line = /empty\.yaml:1: has no keys/
  t.match(await run('proxy', '--config', empty, ...LOOPBACK), { code: 2, err: line })
  t.match(await run('config', 'check', empty), { code: 2, err: line })
})

t.test('signals that come during a reload are one more reload', async (t) => {
  const { config, text } = shutProxy(t)
  writeFileSync(config, text)
  const { proxy } = await serving(t, config)
  for (let sent = 0; sent < 20; sent++) proxy.child.kill('SIGHUP')
  await nextLine(proxy, () => {})
  writeFileSync(config, `${text}mode: monitor\n`)
  proxy.child.kill('SIGHUP')
  await proxy.says('mode applied')
  t.ok((proxy.err().match(/configuration reloaded/g)?.length ?? 0) <= 4)
  proxy.child.kill('SIGHUP')
  t.equal(await proxy.stop(), 0)
})

t.test('watch: swaps of ..data, as Kubernetes makes them', async (t) => {
  const { folder, text } = shutProxy(t, { watch: true })
  const mount = join(folder, 'mount')
  const publish = (name: string, content: string): void => {
    mkdirSync(join(mount, name), { recursive: true })
    writeFileSync(join(mount, name, 'sallyport.yaml'), content)
    symlinkSync(name, join(mount, '..data_tmp'))
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'))
  }
  publish('..2026_1', text)
  const config = join(mount, 'sallyport.yaml')
  symlinkSync('..data/sallyport.yaml', config)
  const { proxy, status } = await serving(t, config)
  t.match(await nextLine(proxy, () => publish('..2026_2', `${text}mode: monitor\n`)), /reloaded: mode applied/)
  t.not(await status(), 403)
  rmSync(join(mount, '..2026_1'), { recursive: true })
  t.match(await nextLine(proxy, () => publish('..2026_3', text)), /reloaded: mode applied/)
  t.equal(await status(), 403)
})

t.test('watch: targets of links, renames of editors, a folder that goes and comes back', async (t) => {
  const { folder, text } = shutProxy(t, { watch: true })
  const [place, link] = [join(folder, 'etc'), join(folder, 'link.yaml')]
  mkdirSync(place)
  const target = join(place, 'real.yaml')
  writeFileSync(target, text)
  symlinkSync(target, link)
  const { proxy, status } = await serving(t, link)
  const monitored = `${text}mode: monitor\n`
  const asVim = () => {
    renameSync(target, `${target}~`)
    writeFileSync(target, monitored)
    rmSync(`${target}~`)
  }
  for (const change of [
    () => writeFileSync(target, monitored),
    () => writeFileSync(`${target}.new`, text) ?? renameSync(`${target}.new`, target),
    asVim,
  ])
    t.match(await nextLine(proxy, change), /reloaded: mode applied/)

  renameSync(dirname(target), `${place}.away`)
  await proxy.says('does not exist. The configuration in force stays')
  t.not(await status(), 403, 'it stays as it is')
  mkdirSync(place)
  t.match(await nextLine(proxy, () => writeFileSync(target, text)), /reloaded: mode applied/)
  await proxy.says('watch: the configuration is readable again')
  t.equal(await status(), 403)
  t.match(await nextLine(proxy, () => writeFileSync(target, '')), /configuration unchanged: .*has no keys/)
  t.equal(proxy.err().match(/watch: \S+ does not exist/g)?.length, 1, 'said once')
})

for (const [who, ...workers] of [['one process'], ['a primary', '--workers', '2']] as const) {
  t.test(`SIGHUP to ${who} that is starting is a reload once it serves`, async (t) => {
    const held: ServerResponse[] = []
    const publisher = createServer((_, response) => void held.push(response))
    const url = `http://127.0.0.1:${await listening(t, publisher)}/list`
    // The start is not complete before the first answer of a list.
    const { config } = workspace(t, ['net: { allowPrivate: [127.0.0.1/32] }', `lists: { mine: { url: "${url}" } }`])
    const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, ...workers])
    await until(() => held.length > 0)
    t.notMatch(proxy.err(), 'Listening')
    appendFileSync(config, SHUT)
    for (let sent = 0; sent < 3; sent++) proxy.child.kill('SIGHUP')
    publisher.on('request', (_, response) => response.end('192.0.2.1\n'))
    for (const response of held) response.end('192.0.2.1\n')
    await proxy.says('configuration reloaded')
    t.match(proxy.err(), /Listening on .*configuration reloaded: policy\S* .*applied/s)
    t.equal(proxy.err().match(/configuration reloaded/g)?.length, 1)
    t.equal(await proxy.stop(), 0)
  })
}
