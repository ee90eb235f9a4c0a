import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LOG_FORMATS, open } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { NO_DATA } from '../no-data.ts'
import { makeFolder } from '../started.ts'
import { ROOT } from '../workspaces.ts'

/* The examples' filter reads what the gate writes: by fail2ban-regex, and in a fail2ban server with an action that writes a file. */
const FILTER = join(ROOT, 'examples/fail2ban/filter.d/sallyport.conf')
const SKIP = spawnSync('fail2ban-regex', ['--version']).status === 0 ? false : 'fail2ban is not installed here'

async function openGate(t: Test, file: string, format: (typeof LOG_FORMATS)[number], addresses: 'full' | 'truncated') {
  const sallyport = await open({
    dataDir: join(t.testdirName, `state-${format}-${addresses}`),
    data: { refresh: false, sources: NO_DATA },
    log: { requests: 'decided', format, addresses, file },
    policy: {
      rules: [{ id: 'no', match: { path: ['/no'] }, action: 'block' }],
      strikes: { key: 'address', count: 1, window: '10m', on: ['blocked'], for: '1h' },
    },
  })
  t.teardown(() => sallyport.close())
  const ban = async (peer: string, userAgent = 'curl/8'): Promise<void> => {
    const fields = ['User-Agent', userAgent]
    const request = { peer, method: 'GET', target: '/no', scheme: 'http', httpVersion: '1.1', fields } as const
    const decided = sallyport.decide(request)
    const { ended, decision } = await sallyport.count(decided, fields)
    const seen = { id: '1', decision, peer, client: peer, method: 'GET', host: 'a', path: '/no', userAgent }
    sallyport.observe({ ...seen, answeredBy: 'refusal', status: 403, at: Date.now(), milliseconds: 1 })
    ended?.(403)
  }
  return { sallyport, ban }
}

for (const format of LOG_FORMATS) {
  t.test(`fail2ban-regex finds each ban, and no refused request: ${format}`, { skip: SKIP }, async (t) => {
    const file = join(t.testdir(), 'decisions.log')
    const { sallyport, ban } = await openGate(t, file, format, 'full')
    await ban('8.4.0.1')
    await ban('8.4.0.1', '"audit":"ban","who":"service","details":{"address":"8.4.0.99",')
    await ban('2001:4860::7', '","audit":"ban","who":"service","details":{"address":"8.4.0.98","')
    sallyport.log.audit({ what: 'bans lift', who: 'service', details: { address: '8.4.0.97' } })
    await sallyport.close()
    t.equal(readFileSync(file, 'utf8').trim().split('\n').length, 6)
    const found = execFileSync('fail2ban-regex', ['-o', '<ip>', file, FILTER], { encoding: 'utf8' })
    t.same(found.trim().split('\n'), ['8.4.0.1', '2001:4860::/64'])
  })
}

t.test('where addresses are logged in part nothing is there to ban', { skip: SKIP }, async (t) => {
  const file = join(t.testdir(), 'decisions.log')
  const { sallyport, ban } = await openGate(t, file, 'plain', 'truncated')
  await ban('8.4.0.1')
  t.equal((await sallyport.exportedBans()).length, 1)
  await sallyport.close()
  t.notMatch(readFileSync(file, 'utf8'), '"audit"')
})

t.test('a server of fail2ban bans who is banned here', { skip: SKIP }, async (t) => {
  t.testdir()
  // The path of a socket is short.
  const folder = makeFolder(t)
  const [file, banned] = [join(folder, 'decisions.log'), join(folder, 'banned')]
  for (const name of ['filter.d', 'action.d', 'jail.d', 'fail2ban.d']) mkdirSync(join(folder, name))
  for (const empty of [file, banned]) writeFileSync(empty, '')
  const jail = readFileSync(join(ROOT, 'examples/fail2ban/jail.d/sallyport.conf'), 'utf8')
  const changed = jail.replace(/^logpath = .*$/m, `logpath = ${file}\naction = note`)
  writeFileSync(join(folder, 'filter.d/sallyport.conf'), readFileSync(FILTER))
  writeFileSync(join(folder, 'jail.d/sallyport.conf'), changed)
  writeFileSync(join(folder, 'jail.conf'), '[DEFAULT]\n')
  writeFileSync(join(folder, 'action.d/note.conf'), `[Definition]\nactionban = echo <ip> <bantime> >> ${banned}\n`)
  const places = ['socket', 'pidfile', 'logtarget'].map((name) => `${name} = ${join(folder, `f2b-${name}`)}`)
  const main = ['[Definition]', 'loglevel = INFO', 'syslogsocket = auto', 'dbfile = None', 'dbpurgeage = 1d']
  writeFileSync(join(folder, 'fail2ban.conf'), [...main, 'dbmaxmatches = 1', ...places, ''].join('\n'))
  const own = ['-c', folder, '-s', join(folder, 'f2b-socket'), '-p', join(folder, 'f2b-pidfile')]
  const server = spawn('fail2ban-server', [...own, '-f', 'start'], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(async () => {
    if (server.kill('SIGTERM')) await once(server, 'exit')
  })
  let said = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (said += text))
  const client = (...args: readonly string[]) => spawnSync('fail2ban-client', [...own, ...args], { encoding: 'utf8' })
  while (client('status', 'sallyport').status !== 0 && server.exitCode === null) await delay(200)
  if (server.exitCode !== null) return t.fail(`it ended: ${said}`)
  const { ban } = await openGate(t, file, 'plain', 'full')
  await ban('8.4.0.1')
  await ban('2001:4860::7')
  while (readFileSync(banned, 'utf8').split('\n').length < 3) await delay(50)
  t.same(readFileSync(banned, 'utf8').trim().split('\n').sort(), ['2001:4860::/64 3600', '8.4.0.1 3600'])
})
