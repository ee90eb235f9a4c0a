import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { readAccessLog } from '../../src/cli/log/access/access-log.ts'
import { until, visit } from './command.ts'

/** Visits of every server: what is asked for, and the user agent as it must be read. */
const VISITS: readonly (readonly [target: string, userAgent: string | undefined])[] = [
  ['/a?b=c', 'curl/8.5.0'],
  ['/none', undefined],
  ['/quoted%22', 'a "quoted" \\ one'],
  ['/bytes', 'caf\u00c3\u00a9'],
  ['/dash', 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'],
]

const missing = (program: string): string | false =>
  spawnSync(program, ['-v']).error === undefined ? false : `${program} is not installed`

function serve(t: Test, folder: string, program: string, argv: readonly string[]): void {
  const child = spawn(program, [...argv], { cwd: folder, env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  t.teardown(async () => {
    if (!t.passing()) t.comment(said)
    if (child.exitCode === null) {
      child.kill()
      await once(child, 'exit')
    }
  })
}

/** Requests everything once, as soon as a server listens. */
async function visitAll(port: number): Promise<void> {
  const ask = (target: string, userAgent?: string) =>
    visit(`http://127.0.0.1:${port}${target}`, userAgent === undefined ? {} : { 'User-Agent': userAgent })
  await until(() =>
    ask('/first', 'first').then(
      () => true,
      () => false,
    ),
  )
  for (const [target, userAgent] of VISITS) await ask(target, userAgent)
}

/** Checks that a log says what was asked, by whom and when; resolves once all of it is written. */
async function checkLog(t: Test, file: string, format: string, from: number): Promise<void> {
  // Threads write as they come, so the last of them may be any.
  const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.includes('/first'))
  await until(() => {
    const text = readFileSync(file, 'utf8')
    return text.includes('/dash') && text.endsWith('\n') && lines(text).length >= VISITS.length
  })
  const read: (readonly unknown[])[] = []
  for await (const { reading, format } of readAccessLog(file)) {
    if (format === undefined) continue
    const { target = '', userAgent = '', at = 0, method = '' } = 'lacks' in reading ? {} : reading
    if (target === '/first') continue
    read.push([format, method, target, userAgent, at >= from - 1_000 && at <= Date.now() + 1_000])
  }
  const wanted = VISITS.map(([target, userAgent = '']) => [format, 'GET', target, userAgent, true])
  t.same(read.toSorted(), wanted.toSorted(), readFileSync(file, 'utf8'))
}

t.test('nginx, in every form', { skip: missing('nginx') }, async (t) => {
  const folder = t.testdir()
  const port = await freePort()
  const members = '"time_local":"$time_local","remote_addr":"$remote_addr","request":"$request","status":"$status"'
  const agent = '"http_user_agent":"$http_user_agent"'
  const combined =
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'
  const split = '"request_method":"$request_method","request_uri":"$request_uri","request_time":$request_time'
  const iso = '"client_ip":"$remote_addr","method":"$request_method","uri":"$request_uri"'
  /** The definition of each form, whose name begins with the format as which it is read. */
  const forms: Readonly<Record<string, string>> = {
    combined: '',
    combined_main: `'${combined} "$http_x_forwarded_for"'`,
    combined_vhost: `'$host:$server_port ${combined}'`,
    json: `escape=json '{${members},${agent}}'`,
    json_unescaped: `'{${members},${agent}}'`,
    json_split: `escape=json '{"msec":"$msec","remote_addr":"$remote_addr","status":$status,${split},${agent}}'`,
    json_iso: `escape=json '{"@timestamp":"$time_iso8601",${iso},"user_agent":"$http_user_agent"}'`,
  }
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const named = Object.entries(forms)
  const configuration = [
    'daemon off; worker_processes 1; pid nginx.pid; error_log stderr;',
    process.getuid?.() === 0 ? 'user root;' : '',
    `events {} http { ${paths.join(' ')}`,
    ...named.flatMap(([name, text]) => (text === '' ? [] : [`log_format ${name} ${text};`])),
    ...named.map(([name]) => `access_log ${folder}/${name}.log ${name};`),
    `server { listen 127.0.0.1:${port}; location / { return 200 ok; } } }`,
  ]
  writeFileSync(join(folder, 'nginx.conf'), configuration.join('\n'))
  const from = Date.now()
  serve(t, folder, 'nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')])
  await visitAll(port)
  for (const [name] of named) await checkLog(t, join(folder, `${name}.log`), name.split('_', 1)[0] ?? '', from)
})

t.test('Caddy, with each of its times', { skip: missing('caddy') }, async (t) => {
  const folder = t.testdir()
  const rfc = ['rfc3339', 'rfc3339_nano', 'wall', 'wall_milli', 'common_log']
  const times = ['', 'unix_milli_float', 'unix_nano', 'iso8601', ...rfc]
  const from = Date.now()
  const ports = await Promise.all(times.map(freePort))
  const sites = times.map((time, index) => {
    const format = `format json {${time === '' ? '' : `\n time_format ${time}`}\n }`
    return `http://127.0.0.1:${ports[index]} {\n log {\n output file ${folder}/${index}.log\n ${format}\n }\n respond ok\n}`
  })
  writeFileSync(join(folder, 'Caddyfile'), `{\n  admin off\n}\n${sites.join('\n')}\n`)
  serve(t, folder, 'caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'])
  for (const [index, port] of ports.entries()) {
    await visitAll(port)
    await checkLog(t, join(folder, `${index}.log`), 'json', from)
  }
})
