import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readEntry } from '@sallyport/engine'
import t from 'tap'
import { serve, until, visit, workspace } from './command.ts'

const TRUST = ['--trust-proxy', 'loopback']
const RULES = 'policy: { rules: [{ id: shut, match: { path: ["/shut"] }, action: block }] }'

const from = (client: string, id: string) => ({ 'x-forwarded-for': client, 'x-request-id': id })

t.test('standard output is the decision log, and standard error is for people', async (t) => {
  const { config } = workspace(t, ['demo: true', RULES])
  const proxy = await serve(t, config, TRUST)
  const { url, key } = proxy
  t.equal((await visit(`${url}/shut?secret=1`, from('192.0.2.7', 'one'))).status, 403)
  t.equal((await visit(url, from('192.0.2.7', 'two'))).status, 200)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = { ip: '192.0.2.9', headless_flags: { webdriver: true }, request_id: 'of-the-caller' }
  const checked = await visit(`${url}/v1/agentscan/check`, headers, JSON.stringify(body))
  t.match(JSON.parse(checked.text), { action: 'flag' })
  t.equal(await proxy.stop('SIGINT'), 0)
  const lines = proxy.out().trimEnd().split('\n').map(readEntry)
  t.match(lines, [
    { requestId: 'one', action: 'block', rule: 'shut', client: '192.0.2.7', path: '/shut', status: 403 },
    { requestId: 'of-the-caller', answeredBy: 'check', action: 'flag', client: '192.0.2.9' },
  ])
  t.equal(lines.length, 2, 'what was allowed is not written')
})

t.test('log.file is opened again at SIGHUP, and log itself is taken over; who did what is in it', async (t) => {
  const { folder, config, command } = workspace(t, ['demo: true', RULES])
  const file = join(folder, 'decisions.log')
  const before = readFileSync(config, 'utf8')
  writeFileSync(config, `${before}log: { file: ${file}, requests: all, addresses: hashed }\n`)
  t.match(await command('keys', 'create'), { code: 0 })
  const proxy = await serve(t, config, ['--workers', '2', ...TRUST])
  const { url } = proxy
  for (let n = 0; n < 40; n++) await visit(url, from('192.0.2.7', `r${n}`))
  await until(() => splitLines(file).length > 40)
  const lines = splitLines(file).map(readEntry)
  t.match(lines[0], { audit: 'keys create', details: { key: /./, account: /./ } })
  const requests = lines.flatMap((line) => (line !== undefined && 'path' in line ? [line] : []))
  t.equal(requests.length, 40)
  t.equal(new Set(requests.map(({ client }) => client)).size, 1, 'workers share the key of the day')
  t.notMatch(readFileSync(file, 'utf8'), '192.0.2.7')

  renameSync(file, `${file}.1`)
  proxy.child.kill('SIGHUP')
  await proxy.says('nothing has changed')
  await until(() => splitLines(file).length > 0)
  t.match(readEntry(splitLines(file)[0] ?? ''), { audit: 'reload', who: 'SIGHUP', details: { changed: [] } })

  writeFileSync(config, `${before}log: { requests: off }\nlimits: { inFlight: 0 }\n`)
  proxy.child.kill('SIGHUP')
  await proxy.says('configuration unchanged')
  await until(() => splitLines(file).length > 1)
  t.match(readEntry(splitLines(file)[1] ?? ''), { audit: 'reload', error: 'invalid_config' })

  writeFileSync(config, `${before}log: { requests: off }\n`)
  proxy.child.kill('SIGHUP')
  await proxy.says('log.requests, log.addresses, log.file (removed) applied')
  await visit(`${url}/shut`)
  t.equal(await proxy.stop('SIGINT'), 0)
  t.notMatch(readFileSync(file, 'utf8'), '/shut')
})

t.test('administrative commands are written down where no log.file is named: in the dataDir', async (t) => {
  const { folder, config, command } = workspace(t)
  t.match(await command('ip', 'set', '8.8.4.4', '--class', 'vpn'), { code: 0 })
  t.match(await command('keys', 'revoke', 'none'), { code: 1 })
  t.match(await command('keys', 'list'), { code: 0 })
  const trail = splitLines(join(folder, 'data/audit.log')).map(readEntry)
  t.match(trail, [{ audit: 'ip set' }, { audit: 'keys revoke', error: 'unknown_key', details: { key: 'none' } }])
  t.equal(trail.length, 2, 'reading is no act')
  writeFileSync(config, `${readFileSync(config, 'utf8')}log: { file: ${config}/x.log }\n`)
  t.match(await command('ip', 'unset', '8.8.4.4'), { code: 2, err: /log\.file: \S+ is not a folder/ })
})

function splitLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch {
    return []
  }
}
