import { existsSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { run, start, workspace } from './command.ts'
import { LOOPBACK, nextLine, SHUT, serving, shutProxy } from './reloading.ts'

t.test('a file that is empty, commented or half-written takes nothing away', async (t) => {
  const { config, text } = shutProxy(t)
  writeFileSync(config, text)
  const { proxy, status } = await serving(t, config)
  const hup = () => proxy.child.kill('SIGHUP')
  t.equal(await status(), 403)
  const commented = text.replace(/^/gm, '# ')
  for (const bad of ['', commented, text.slice(0, -20)]) {
    writeFileSync(config, bad)
    const line = await nextLine(proxy, hup)
    t.match(line, /configuration unchanged: .*test\.yaml/, JSON.stringify(bad.slice(-20)))
    t.equal(await status(), 403, JSON.stringify(bad.slice(-20)))
  }
  t.match(await nextLine(proxy, () => writeFileSync(config, text) ?? hup()), /reloaded: nothing has changed\.$/)

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
    const parts = [
      text.slice(0, -SHUT.length),
      'mode: enforce\n',
      'paths: strict\n',
      SHUT.replace('id: shut', 'id: shut-2'),
    ]
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
  t.match(
    await nextLine(proxy, () => proxy.child.kill('SIGHUP')),
    /configuration unchanged: .*sallyport\.yaml does not exist/,
  )
  t.equal((await fetch(`${url}/shut/door`)).status, 403)
})

/** A file that says it is one, whose reader waits for the next message of the kernel. */
const KMSG = 'refusal: { template: /proc/kmsg }'

t.test('a reload with one file that cannot be used takes nothing over', async (t) => {
  const { config, text, folder } = shutProxy(t)
  writeFileSync(config, text)
  const { proxy, status } = await serving(t, config)
  t.notMatch(proxy.err(), /Using sallyport/, 'it was named')
  const hup = () => proxy.child.kill('SIGHUP')
  const open = text.replace(SHUT, '')
  const route = (more: string) => `routes: [{ host: a.example, upstreams: ["https://127.0.0.1:1"], ${more} }]`
  const faults: readonly (readonly [line: string, said: string])[] = [
    [route('ca: /no/ca.pem'), 'routes\\.0\\.ca: /no/ca\\.pem does not exist'],
    [route(`ca: ${config}`), 'routes\\.0\\.ca: .* contains no certificate in PEM'],
    [`log: { file: ${join(folder, 'test.yaml', 'x')} }`, 'log\\.file: .* is not a folder'],
    ['log: { file: /proc/sallyport/x/y.log }', 'log\\.file: .* is in a file system of the kernel'],
    ['refusal: { template: /dev/zero }', 'refusal\\.template: /dev/zero is not a regular file'],
    ...(existsSync('/proc/kmsg')
      ? [[KMSG, 'refusal\\.template: /proc/kmsg is in a file system of the kernel'] as const]
      : []),
  ]
  for (const [line, said] of faults) {
    writeFileSync(config, `${open}${line}\n`)
    t.match(await nextLine(proxy, hup), new RegExp(`configuration unchanged: .*${said}`))
    t.equal(await status(), 403, 'the policy too')
  }
  writeFileSync(config, open)
  t.match(await nextLine(proxy, hup), /reloaded: policy\.rules/)
  t.not(await status(), 403)
})

t.test('the line of a reload names each key, what is removed, and no value', async (t) => {
  const { config, text, folder } = shutProxy(t)
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'first-secret-of-thirty-two-characters')
  const page = join(folder, 'page.html')
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
  t.match(
    await nextLine(proxy, hup),
    /reloaded: upstream \(removed\), refusal\.contact \(removed\), timeouts\.drain applied; console\.readToken \(removed\) needs a restart\.$/,
  )
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
  proxy.child.kill('SIGTERM')
  t.equal(await proxy.ended, 0)
})
