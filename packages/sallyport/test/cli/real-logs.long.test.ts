import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readAccessLog } from '../../src/cli/log/access/access-log.ts'
import { until } from './command.ts'

/** Visits of every server: what is asked for, and the user agent as it must be read. */
const VISITS: readonly (readonly [target: string, userAgent: string | undefined])[] = [
  ['/a?b=c', 'curl/8.5.0'],
  ['/none', undefined],
  ['/quoted%22', 'a "quoted" \\ one'],
  ['/bytes', 'caf\u00c3\u00a9'],
  ['/dash', 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'],
]

function missing(program: string): string | false {
  return spawnSync(program, ['-v']).error === undefined ? false : `${program} is not installed`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Runs a server until the test ends; its standard output is written to a file. */
function serve(t: Test, folder: string, program: string, argv: readonly string[]): ChildProcess {
  const child = spawn(program, [...argv], { cwd: folder, env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text))
  child.stdout?.on('data', (text) => writeFileSync(join(folder, 'stdout.log'), text, { flag: 'a' }))
  t.teardown(async () => {
    if (!t.passing()) t.comment(said)
    if (child.exitCode === null) {
      child.kill()
      await once(child, 'exit')
    }
  })
  return child
}

/** Requests everything once, as soon as a server listens. */
async function visitAll(port: number): Promise<void> {
  const ask = async (target: string, userAgent?: string) => {
    const headers = userAgent === undefined ? {} : { 'User-Agent': userAgent }
    const sent = request({ port, host: '127.0.0.1', path: target, headers, agent: false }).end()
    const [answer] = await once(sent, 'response')
    answer.resume()
    await once(answer, 'end')
  }
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
  const isWhole = (text: string) => text.includes('/dash') && text.endsWith('\n')
  const written = (text: string) => text.split('\n').filter((line) => line !== '' && !line.includes('/first'))
  await until(() => {
    const text = readFileSync(file, 'utf8')
    return isWhole(text) && written(text).length >= VISITS.length
  })
  const lines: (readonly unknown[])[] = []
  for await (const { reading, format } of readAccessLog(file)) {
    if (format === undefined) continue
    const { target = '', userAgent = '', at = 0, method = '' } = 'lacks' in reading ? {} : reading
    if (target === '/first') continue
    lines.push([format, method, target, userAgent, at >= from - 1_000 && at <= Date.now() + 1_000])
  }
  const wanted = VISITS.map(([target, userAgent = '']) => [format, 'GET', target, userAgent, true])
  t.same(lines.toSorted(), wanted.toSorted(), readFileSync(file, 'utf8'))
}

t.test('nginx, in every form', { skip: missing('nginx') }, async (t) => {
  const folder = t.testdir()
  const port = await freePort()
  const members = '"time_local":"$time_local","remote_addr":"$remote_addr","request":"$request","status":"$status"'
  const agent = '"http_user_agent":"$http_user_agent"'
  const forms: Readonly<Record<string, readonly [format: string, definition: string]>> = {
    combined: ['combined', ''],
    main: [
      'combined',
      `'$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for"'`,
    ],
    vhost: [
      'combined',
      `'$host:$server_port $remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'`,
    ],
    json: ['json', `escape=json '{${members},${agent}}'`],
    unescaped: ['json', `'{${members},${agent}}'`],
    split: [
      'json',
      `escape=json '{"msec":"$msec","remote_addr":"$remote_addr","request_method":"$request_method","request_uri":"$request_uri","status":$status,"request_time":$request_time,${agent}}'`,
    ],
    iso: [
      'json',
      `escape=json '{"@timestamp":"$time_iso8601","client_ip":"$remote_addr","method":"$request_method","uri":"$request_uri","user_agent":"$http_user_agent"}'`,
    ],
  }
  const names = Object.keys(forms)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  writeFileSync(
    join(folder, 'nginx.conf'),
    [
      'daemon off; worker_processes 1; pid nginx.pid; error_log stderr;',
      process.getuid?.() === 0 ? 'user root;' : '',
      `events {} http { ${temporary.join(' ')}`,
      ...names.flatMap((name) => (forms[name]?.[1] === '' ? [] : [`log_format ${name} ${forms[name]?.[1]};`])),
      ...names.map((name) => `access_log ${folder}/${name}.log ${name};`),
      `server { listen 127.0.0.1:${port}; location / { return 200 ok; } } }`,
    ].join('\n'),
  )
  const from = Date.now()
  serve(t, folder, 'nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')])
  await visitAll(port)
  for (const name of names) await checkLog(t, join(folder, `${name}.log`), forms[name]?.[0] ?? '', from)
})

t.test('Caddy, with each of its times', { skip: missing('caddy') }, async (t) => {
  const folder = t.testdir()
  const times = [
    '',
    'unix_milli_float',
    'unix_nano',
    'iso8601',
    'rfc3339',
    'rfc3339_nano',
    'wall',
    'wall_milli',
    'common_log',
  ]
  const from = Date.now()
  const ports = await Promise.all(times.map(freePort))
  const sites = times.map((time, index) =>
    [
      `http://127.0.0.1:${ports[index]} {`,
      `  log {\n    output file ${folder}/${index}.log\n    format json {${time === '' ? '' : `\n      time_format ${time}`}\n    }\n  }`,
      '  respond ok\n}',
    ].join('\n'),
  )
  writeFileSync(join(folder, 'Caddyfile'), `{\n  admin off\n}\n${sites.join('\n')}\n`)
  serve(t, folder, 'caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'])
  for (const [index, port] of ports.entries()) {
    await visitAll(port)
    await checkLog(t, join(folder, `${index}.log`), 'json', from)
  }
})
