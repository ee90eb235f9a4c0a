import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { TRUST_PRESETS } from '@sallyport/core'
import { readConfigFrom } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { FRAMEWORKS } from '../../src/cli/init/frameworks.ts'
import { FRONTS } from '../../src/cli/init/questions.ts'
import { PROTECTIONS } from '../../src/cli/init/settings.ts'
import { FIREFOX, GPTBOT, makeFolder, run, start, until, visit, workspace } from './command.ts'

/** Runs a command on a terminal of its own, and passes on what is typed and shown. */
const PYTHON = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'
const NO_TERMINAL = spawnSync('python3', ['--version']).error !== undefined && 'no python3'

function openTerminal(t: Test, argv: readonly string[], cwd: string) {
  const { child, out, ended } = start(t, argv, { NO_COLOR: '1' }, { cwd, stdio: 'pipe' }, ['python3', '-c', PYTHON])
  let [read, isOver] = [0, false]
  void ended.then(() => {
    isOver = true
  })
  return {
    /** Resolves with what was shown up to this text and was not waited for before. Rejects where the command ends without it. */
    async shows(text: string): Promise<string> {
      await until(() => out().includes(text, read) || isOver)
      if (!out().includes(text, read)) throw new Error(`"${text}" is not shown: ${out().slice(read)}`)
      const part = out().slice(read, out().indexOf(text, read) + text.length)
      read += part.length
      return part
    },
    type: (keys: string) => void child.stdin?.write(keys),
    /** Resolves with the exit code and with all that was shown. */
    ended: ended.then((code) => ({ code, shown: out() })),
  }
}

/** Writes an access log in which one address sends each user agent once. */
const writeLog = (...agents: readonly string[]): string =>
  agents.map((agent) => `5.9.10.20 - - [26/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "${agent}"\n`).join('')

/** Ends each question but that for the log. */
const PROMPT = ']: '

/** The data is compiled once. */
const DATA = mkdtempSync(join(tmpdir(), 'sallyport-init-data-'))
t.teardown(() => rmSync(DATA, { recursive: true }))

t.test('four questions, a wrong answer, a file and a replay', { skip: NO_TERMINAL }, async (t) => {
  const folder = makeFolder(t)
  writeFileSync(join(folder, 'access.log'), writeLog(FIREFOX, GPTBOT, GPTBOT))
  const { shows, type, ended } = openTerminal(t, ['init', '--data-dir', DATA], folder)
  t.match(
    await shows(PROMPT),
    /What do you want to protect\?\r\n +1 +site .*\r\n +2 +api .*\r\n +3 +login .*\r\n +4 +everything .*\[site\]: $/s,
  )
  type('shop\r')
  t.match(await shows(PROMPT), /"shop" is not a choice: site, api, login, everything\./, 'asked again')
  type('5\r')
  t.match(await shows(PROMPT), /"5" is not a choice/)
  type('1\r')
  t.match(await shows(PROMPT), /Which framework.*6 +proxy.*\[proxy\]: $/s, 'no package.json: the proxy')
  type('\r')
  t.match(await shows(PROMPT), /Which proxies are in front.*4 +cloudflare.*\[nothing\]: $/s)
  type('4,loopbak\r')
  t.match(await shows(PROMPT), /"loopbak" is not an address.*did you mean "loopback"/)
  type('4, loopback,203.0.113.0/24\r')
  await shows('(optional): ')
  t.same(readdirSync(folder), ['access.log'], 'nothing is written before the last answer')
  type('access.log\r')
  const { code, shown } = await ended
  t.equal(code, 0, shown)
  t.equal(shown.match(/\]: |\(optional\): /g)?.length, 4 + 3, 'four questions, three of them again')
  const { config } = readConfigFrom({ file: join(folder, 'sallyport.yaml') })
  t.match(config, {
    mode: 'monitor',
    trustProxy: ['cloudflare', 'loopback', '203.0.113.0/24'],
    policy: { preset: 'protect-content' },
  })
  const after = shown.slice(shown.indexOf('Wrote sallyport.yaml'))
  t.match(after, /The configuration is valid\.\r\n.*The effect of the policy on 3 requests of access\.log/s)
  t.match(after, /^class +requests +.*block\r$/m)
  t.match(after, /^ai_agent +2 .*2\r$/m)
  t.match(after, /^all +3 .*2\r$/m)
  t.match(after, 'A running service challenges fewer requests: a log does not record passes')
  const start = /Start in monitor mode, which blocks nothing:\r\n\r\n {2}(?:npm install .* && )?npx sallyport proxy\r\n/
  t.match(after, start)
})

t.test('keys typed ahead, and a framework that package.json shows', { skip: NO_TERMINAL }, async (t) => {
  const folder = makeFolder(t)
  const manifest = '{"type":"module","dependencies":{"express":"5"},"scripts":{"start":"node ."}}'
  writeFileSync(join(folder, 'package.json'), manifest)
  const { shows, type, ended } = openTerminal(t, ['init', '--front', 'nothing', '--data-dir', DATA], folder)
  await shows(PROMPT)
  type('API\r\rno.log\r')
  const { code, shown } = await ended
  t.equal(code, 0, shown)
  t.match(shown, /\[express\]: /)
  t.match(shown, /import \{ inspection, open \} from '@sallyport\/express'\r\n/)
  t.match(shown, /limits: \['api-fair-use'\]/)
  t.match(shown, /nothing was replayed: no\.log does not exist.*npm install @sallyport\/express.* && npm start\r\n/s)
  t.same(readdirSync(folder), ['package.json'], 'no file is written')
})

t.test('Ctrl-C and Ctrl-D leave nothing', { skip: NO_TERMINAL }, async (t) => {
  for (const key of ['\u0003', '\u0004']) {
    const folder = makeFolder(t)
    const { shows, type, ended } = openTerminal(t, ['init', '--protect', 'site', '--framework', 'proxy'], folder)
    await shows(PROMPT)
    type('1\r')
    await shows('(optional): ')
    type(key)
    t.match(await ended, { code: 1, shown: /Nothing was changed\.\r\n$/ })
    t.same(readdirSync(folder), [])
  }
})

t.test('other questions end in the same way', { skip: NO_TERMINAL }, async (t) => {
  const { folder, config } = workspace(t)
  for (const keys of ['\u0004', '\u0003', 'no\r']) {
    const { shows, type, ended } = openTerminal(t, ['privacy', 'erase', '203.0.113.7', '--config', config], folder)
    await shows('Type yes to continue: ')
    type(keys)
    t.match(await ended, { code: 1, shown: /Nothing was changed\.\r\n$/ })
  }
})

t.test('a file that exists, or comes while a question is open, stays', { skip: NO_TERMINAL }, async (t) => {
  for (const comes of ['before', 'meanwhile']) {
    const folder = makeFolder(t)
    const file = join(folder, 'sallyport.yaml')
    if (comes === 'before') writeFileSync(file, 'mode: enforce\n')
    const { shows, type, ended } = openTerminal(t, ['init', '--protect', 'site', '--data-dir', DATA], folder)
    await shows(PROMPT)
    type('proxy\r')
    if (comes === 'meanwhile') {
      await shows(PROMPT)
      writeFileSync(file, 'mode: enforce\n')
      type('1\r\r')
    }
    const shown = /sallyport\.yaml exists\. Use --force to overwrite it, or --config FILE to write another file\.\r\n$/
    t.match(await ended, { code: 1, shown })
    t.equal(readFileSync(file, 'utf8'), 'mode: enforce\n')
  }
})

t.test('the command that is printed starts a proxy that refuses nobody', async (t) => {
  const folder = makeFolder(t)
  const file = join(folder, 'sallyport.yaml')
  const origin = createServer((_, response) => response.end('a page'))
  const target = `http://127.0.0.1:${await listening(t, origin)}`
  const given = ['--protect', 'site', '--framework', 'proxy', '--front', 'loopback', '--target', target]
  const { out } = await run('init', ...given, '--config', file, '--data-dir', DATA)
  const argv = /npx sallyport (proxy .*)$/m.exec(out)?.[1]?.split(' ') ?? []
  const quiet = { SALLYPORT_DATA_REFRESH: 'false', SALLYPORT_NET_OUTBOUND: 'false' }
  // The addresses of a configuration that is written once may be taken here.
  const proxy = start(t, argv, { ...quiet, SALLYPORT_LISTEN: '127.0.0.1:0', SALLYPORT_ADMIN: '127.0.0.1:0' })
  await proxy.says('with the token in')
  const url = /Listening on (http:\/\/[\w.:]+)/.exec(proxy.err())?.[1] ?? ''
  const headers = { 'user-agent': GPTBOT, 'x-forwarded-for': '5.9.10.20' }
  t.equal((await visit(url, headers)).text, 'a page')
  await until(() => /"action":"block","enforced":false/.test(proxy.out()))
})

t.test('a log that cannot be replayed says why, and the rest happens', async (t) => {
  const { write, folder } = workspace(t)
  const file = join(folder, 'sallyport.yaml')
  const given = ['--protect', 'everything', '--framework', 'proxy', '--front', 'nothing', '--config', file, '--force']
  const replay = (log: string) => run('init', ...given, '--data-dir', DATA, '--log', log)
  for (const [log, says] of [
    [join(folder, 'none.log'), /none\.log does not exist/],
    [folder, /nothing was replayed: .*(?:folder|directory)/],
    [write('words.log', 'hello\nworld\n'), /none of 2 lines can be evaluated/],
  ] as const)
    t.match(await replay(log), { code: 0, err: says, out: /npx sallyport proxy/ })
  t.match(await replay(write('empty.log', '')), { code: 0, out: /empty\.log has no request.*npx sallyport proxy/s })
  const limited = await replay(write('login.log', writeLog(...Array.from({ length: 100 }, () => 'curl/8.5.0'))))
  // Enforced counting: a hundred requests of a program on a server are over every limit of the preset.
  t.match(limited.out, /^class +requests +.*(?:throttle|block)$/m)
  t.ok(existsSync(file))
})

t.test('every combination of answers passes config check, and open() takes the same', async (t) => {
  const folder = makeFolder(t)
  const dataDir = join(folder, 'it\'s "data"')
  const file = join(folder, 'a.yaml')
  const names = new Set([...FRONTS.map(({ name }) => name), ...TRUST_PRESETS])
  const fronts = [...names, 'cloudflare, loopback,2001:db8::/32,203.0.113.7']
  for (const { name: protect, preset, limits } of PROTECTIONS) {
    for (const front of fronts) {
      const given = ['--protect', protect, '--front', front, '--data-dir', dataDir]
      const wrote = await run('init', ...given, '--framework', 'proxy', '--config', file, '--force')
      const about = `${protect} behind ${front}: ${wrote.err}`
      t.match(wrote, { code: 0, out: /^The configuration is valid\.$/m }, about)
      const checked = await run('config', 'check', file)
      t.equal(checked.code, 0, about)
      // The example's origin is not there, and its address may be another's.
      const warnings = checked.err.match(/^warning: .*/gm) ?? []
      t.ok(warnings.every((line) => /: (?:upstream|listen|admin): /.test(line)))
      const { config } = readConfigFrom({ file })
      const trustProxy = front === 'nothing' ? [] : front.split(',').map((entry) => entry.trim())
      t.match(config, { mode: 'monitor', upstream: 'http://127.0.0.1:3000', trustProxy, dataDir })
      t.same([config.policy.preset, config.policy.limits ?? []], [preset, limits ?? []])
      const { mode, policy } = config
      for (const { name } of FRAMEWORKS) {
        const { code, out } = await run('init', ...given, '--framework', name)
        t.equal(code, 0, about)
        const literal = /open\((\{.*\n *\})\)/s.exec(out)?.[1] ?? ''
        const flags = JSON.parse(JSON.stringify(runInNewContext(`(${literal})`)))
        const { config: opened } = readConfigFrom({ flags })
        const taken = [opened.mode, opened.trustProxy, opened.policy, opened.dataDir]
        t.same(taken, [mode, trustProxy, policy, dataDir], about)
      }
    }
  }
})
