import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openProxy } from '../src/index.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { exchange, get } from './wire.ts'

/*
 * Servers hand a field to a CGI or FastCGI program as a variable, in which all but letters and digits are `_`: many names
 * of a client then are one name of ours. Asked of a real lighttpd with a CGI program, and of PHP-FPM behind it.
 */
const FPM = existsSync('/usr/sbin') ? readdirSync('/usr/sbin').find((name) => /^php-fpm\d/.test(name)) : undefined
const NO_LIGHTTPD = spawnSync('lighttpd', ['-v']).error === undefined ? false : 'lighttpd is not installed'
const NO_FPM = NO_LIGHTTPD || (FPM === undefined && 'PHP-FPM is not installed')

/** What HTTP allows in a name beside letters and digits (RFC 9110 5.6.2). */
const SEPARATORS = [..."!#$%&'*+-.^_`|~"]
/** Names that an origin takes for what a proxy says of the client. */
const OURS = ['Sallyport-Action', 'Sallyport-Network-Class', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host']
const NONE = ['X-Real-IP', 'Client-IP', 'X-Original-URL', 'Proxy']
const FORGED = 'forged'

/** Each name with each separator in the place of each hyphen, and of all. */
function spellings(name: string): readonly string[] {
  const words = name.split('-')
  const all = SEPARATORS.map((separator) => words.join(separator))
  const mixed = SEPARATORS.flatMap((separator) =>
    words.slice(1).map((_, at) => `${words.slice(0, at + 1).join('-')}${separator}${words.slice(at + 1).join('-')}`),
  )
  return [...new Set([...all, ...mixed, name.toLowerCase(), name.toUpperCase()])]
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Starts a program that listens, and waits until it does. */
async function listening(t: Test, command: string, args: readonly string[], port: number): Promise<void> {
  const child: ChildProcess = spawn(command, args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  for (let open = false; !open; ) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    open = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (!open) await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function lighttpd(t: Test, folder: string, lines: readonly string[]): Promise<string> {
  const port = await freePort()
  const file = join(folder, 'lighttpd.conf')
  const base = [`server.document-root = "${folder}"`, `server.port = ${port}`, 'server.bind = "127.0.0.1"']
  writeFileSync(file, [...base, ...lines].join('\n'))
  await listening(t, 'lighttpd', ['-D', '-f', file], port)
  return `http://127.0.0.1:${port}`
}

/** The variables of a program behind the proxy that do not come from us, for every spelling of every name. */
async function forged(t: Test, upstream: string, path: string): Promise<readonly string[]> {
  const proxy = await openProxy(fakeSallyport(), {
    ...{ listen: '127.0.0.1:0', admin: '127.0.0.1:0', upstream, timeouts: { drain: 0 } },
  })
  t.teardown(() => proxy.close())
  const wrong: string[] = []
  for (const name of [...OURS, ...NONE]) {
    for (const spelling of spellings(name)) {
      // What the trusted peer says is read from the one header; the proto and the host it may say are not forged.
      const fields = [`X-Forwarded-For: ${VISITOR.flagged}`, `${spelling}: ${FORGED}`]
      const answer = await exchange(proxy.url, get(path, ...(name === 'X-Forwarded-For' ? fields.slice(1) : fields)))
      const variables = answer.split('\n').filter((line) => line.startsWith('HTTP_'))
      const ours = variables.some((line) => line.startsWith('HTTP_SALLYPORT_ACTION='))
      const bad = variables.filter((line) => line.includes(FORGED))
      if (!ours || bad.length > 0) wrong.push(`${spelling}: ${bad.join(' ') || answer.slice(0, 60)}`)
    }
  }
  return wrong
}

t.test('a CGI program of lighttpd sees no name of ours that a client sent', { skip: NO_LIGHTTPD }, async (t) => {
  const folder = t.testdir({
    'show.cgi': "#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\nenv | grep ^HTTP_\n",
  })
  chmodSync(join(folder, 'show.cgi'), 0o755)
  const upstream = await lighttpd(t, folder, ['server.modules = ("mod_cgi")', 'cgi.assign = (".cgi" => "")'])
  t.same(await forged(t, upstream, '/show.cgi'), [])
})

t.test('a script of PHP-FPM sees no name of ours that a client sent', { skip: NO_FPM }, async (t) => {
  const show = "<?php foreach ($_SERVER as $k => $v) if (strpos($k, 'HTTP_') === 0) echo $k, '=', $v, \"\\n\";"
  const folder = t.testdir({ 'show.php': show })
  const port = await freePort()
  const file = join(folder, 'fpm.conf')
  const user = process.getuid?.() === 0 ? ['user = nobody', 'group = nogroup'] : []
  const pool = [`listen = 127.0.0.1:${port}`, ...user, 'pm = static', 'pm.max_children = 2']
  writeFileSync(file, ['[global]', `error_log = ${join(folder, 'log')}`, '[www]', ...pool, ''].join('\n'))
  chmodSync(folder, 0o755)
  const asRoot = process.getuid?.() === 0 ? ['--allow-to-run-as-root'] : []
  await listening(t, join('/usr/sbin', FPM as string), ['--nodaemonize', ...asRoot, '--fpm-config', file], port)
  const backend = `fastcgi.server = (".php" => (("host" => "127.0.0.1", "port" => ${port})))`
  const upstream = await lighttpd(t, folder, ['server.modules = ("mod_fastcgi")', backend])
  t.same(await forged(t, upstream, '/show.php'), [])
})
