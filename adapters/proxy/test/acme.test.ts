import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:tls'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { BOUNDS, openAuthority } from '../src/acme/authority.ts'
import { challengeAnswer, challengeFiles } from '../src/acme/challenge-files.ts'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { missing } from './programs.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get, OK, openRawOrigin, readStatus, until } from './wire.ts'

const NO_PEBBLE = missing('pebble')

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  return servers.map((server) => {
    const { port } = server.address() as AddressInfo
    server.close()
    return port
  })
}

/** Runs a program until the test ends. */
function runProgram(t: Test, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } })
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  })
}

async function startProxy(t: Test, options: ProxyOptions) {
  const origin = await openRawOrigin(OK)
  const notices: string[] = []
  const proxy = await openProxy(fakeSallyport(), {
    listen: '127.0.0.1:0',
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    upstream: origin.url,
    onNotice: (line) => notices.push(line),
    ...options,
  })
  t.teardown(async () => {
    await proxy.close('cut')
    await origin.close()
  })
  return { proxy, notices, origin }
}

/** The names of the certificate that is served, once there is one. */
async function servedNames(url: string): Promise<string> {
  for (;;) {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false })
    const names = await once(socket, 'secureConnect').then(
      () => socket.getPeerCertificate().subjectaltname,
      () => undefined,
    )
    socket.on('error', () => {}).destroy()
    if (names !== undefined) return names
    await delay(100)
  }
}

t.test('a certificate is ordered, written and served', { skip: NO_PEBBLE || NO_OPENSSL }, async (t) => {
  const folder = certificateFolder(t)
  const own = makeCertificate(folder, ['localhost'], { id: 'authority' })
  const [port, management, dns, dnsManagement, plain] = await freePorts(5)
  const config = join(folder, 'pebble.json')
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: own.cert,
    privateKey: own.key,
    httpPort: plain,
    tlsPort: 1,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  }
  writeFileSync(config, JSON.stringify({ pebble }))
  runProgram(t, 'pebble-challtestsrv', [
    '-defaultIPv4',
    '127.0.0.1',
    '-defaultIPv6',
    '',
    '-dns01',
    `127.0.0.1:${dns}`,
    '-management',
    `127.0.0.1:${dnsManagement}`,
    '-http01',
    '',
    '-https01',
    '',
    '-tlsalpn01',
    '',
  ])
  runProgram(t, 'pebble', ['-config', config, '-dnsserver', `127.0.0.1:${dns}`], {
    PEBBLE_VA_NOSLEEP: '1',
    PEBBLE_WFE_NONCEREJECT: '0',
  })
  const listens = async (): Promise<boolean> =>
    (await exchange(`http://127.0.0.1:${port}`, '').catch(() => 'no')) !== 'no'
  while (!(await Promise.race([listens(), delay(100, true)]))) await delay(50)

  const acme = {
    domains: ['site.example', 'www.site.example'],
    email: 'ops@site.example',
    directory: `https://localhost:${port}/dir`,
    ca: own.cert,
    folder: join(folder, 'acme'),
    orders: true,
  }
  const { proxy, notices } = await startProxy(t, { http: `127.0.0.1:${plain}`, tls: { acme, redirect: true } })
  t.equal((await fetch(`${proxy.adminUrl}/readyz`)).status, 503, 'not ready without a certificate')
  t.equal(await servedNames(proxy.url), 'DNS:site.example, DNS:www.site.example')
  t.same(notices, ['tls.acme: a certificate for site.example, www.site.example was issued'])
  t.equal((await fetch(`${proxy.adminUrl}/readyz`)).status, 200)
  for (const name of ['certificate.pem', 'certificate.key', 'account.key']) {
    t.equal(statSync(join(acme.folder, name)).mode & 0o777, 0o600, name)
  }
  t.match(
    await exchange(proxy.httpUrl ?? '', get('/')),
    /^HTTP\/1\.1 308 /,
    'the redirect stands behind challenges alone',
  )

  const issued = readFileSync(join(acme.folder, 'certificate.pem'), 'utf8')
  const other = await startProxy(t, { tls: { acme: { ...acme, orders: false } } })
  t.equal(await servedNames(other.proxy.url), 'DNS:site.example, DNS:www.site.example', 'another process serves it too')
  const again = await startProxy(t, { tls: { acme } })
  await delay(300)
  t.same(again.notices, [], 'one that is young is not ordered again')
  t.equal(readFileSync(join(acme.folder, 'certificate.pem'), 'utf8'), issued)

  // A key that is lost while it is served, then one of another certificate.
  await again.proxy.close('cut')
  const files = { cert: join(acme.folder, 'certificate.pem'), key: join(acme.folder, 'certificate.key') }
  rmSync(files.key)
  await until(() => notices.some((line) => line.endsWith('has no key file; ordering a new certificate')))
  await until(() => notices.filter((line) => line.endsWith('was issued')).length === 2)
  t.not(readFileSync(files.cert, 'utf8'), issued)
  await proxy.close('cut')
  writeFileSync(files.key, readFileSync(own.key))
  writeFileSync(join(acme.folder, 'account.key'), 'no key')
  const third = await startProxy(t, { http: `127.0.0.1:${plain}`, tls: { acme } })
  await until(() => third.notices.some((line) => line.endsWith('was issued')))
  t.same(
    third.notices.filter((line) => line.startsWith('tls.acme:')),
    [
      `tls.acme: ${files.cert} does not match its key; ordering a new certificate`,
      'tls.acme: a certificate for site.example, www.site.example was issued',
    ],
  )
  t.match(readFileSync(join(acme.folder, 'account.key'), 'utf8'), /PRIVATE KEY/)

  // Other names are taken over by a reload.
  await third.proxy.reload({ tls: { acme: { ...acme, domains: ['site.example', 'shop.example'] } } })
  await until(() => third.notices.some((line) => line.endsWith('for site.example, shop.example was issued')))
  while (!(await servedNames(third.proxy.url)).includes('shop.example')) await delay(100)
})

t.test('an authority that lies, or is not there, is one line, and the rest goes on', async (t) => {
  const liar = createHttp((_, response) => response.end('<html>nonsense</html>'))
  const port = await listening(t, liar)
  for (const directory of [`http://127.0.0.1:${port}/dir`, 'http://127.0.0.1:1/dir']) {
    const acme = {
      domains: ['site.example'],
      email: 'ops@site.example',
      directory,
      folder: join(certificateFolder(t), 'acme'),
      orders: true,
    }
    const { proxy, notices } = await startProxy(t, { tls: { acme } })
    await until(() => notices.length > 0)
    t.match(notices[0], /^tls\.acme: no certificate for site\.example: .+; next attempt in 10 min$/)
    t.equal(notices[0]?.includes('\n'), false)
    t.equal(readStatus(await exchange(proxy.httpUrl ?? '', get('/'))), 200)
  }
})

t.test('certificates by which an authority is trusted are read whole', async (t) => {
  const ca = join(certificateFolder(t), 'ca.pem')
  const { signal } = new AbortController()
  const opened = () => openAuthority({ directory: 'https://127.0.0.1:1/', ca, signal }, BOUNDS)
  await t.rejects(opened(), { message: `tls.acme.ca: ${ca} does not exist` })
  for (const [text, said] of [
    ['', 'contains no certificate in PEM'],
    ['-----BEGIN CERTIFICATE-----\nMIIB', 'is truncated: its certificate has no end'],
  ] as const) {
    writeFileSync(ca, text)
    await t.rejects(opened(), { message: `tls.acme.ca: ${ca} ${said}` })
  }
})

t.test('only tokens that are held are answered, and never over TLS', async (t) => {
  const folder = join(certificateFolder(t), 'challenges')
  const files = challengeFiles(folder)
  await files.write('token-1', 'token-1.print')
  const path = '/.well-known/acme-challenge/token-1'
  t.equal(challengeAnswer(folder, path), 'token-1.print')
  t.equal(challengeAnswer(folder, '/.well-known/acme-challenge/other'), undefined)
  t.equal(challengeAnswer(folder, '/.well-known/acme-challenge/../challenges/token-1'), undefined)
  t.equal(challengeAnswer(folder, `${path}?x`), undefined)
  await files.remove('token-1')
  t.equal(challengeAnswer(folder, path), undefined)
})
