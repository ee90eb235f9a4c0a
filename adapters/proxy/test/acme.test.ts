import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { challengeAnswer, removeChallenge, writeChallenge } from '../src/acme/challenge-files.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { missing, runServer } from './programs.ts'
import { servedNames } from './tls-client.ts'
import { exchange, get, OK, until } from './wire.ts'

const NO_PEBBLE = missing('pebble')
const http = '127.0.0.1:0'

/** Returns the names of the certificate that is served, once there is one. */
async function awaitNames(url: string): Promise<string | undefined> {
  for (;;) {
    const names = await servedNames(url).catch(() => undefined)
    if (names !== undefined) return names
    await delay(100)
  }
}

t.test('a certificate is ordered, written and served', { skip: NO_PEBBLE || NO_OPENSSL }, async (t) => {
  const folder = certificateFolder(t)
  const own = makeCertificate(folder, ['localhost'], { id: 'authority' })
  const ports = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()] as const
  const [port, management, dns, dnsManagement, plain] = ports
  const config = join(folder, 'pebble.json')
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: own.cert,
    privateKey: own.key,
    httpPort: plain,
    tlsPort: 1,
  }
  writeFileSync(config, JSON.stringify({ pebble }))
  const resolver = ['-defaultIPv6', '', '-http01', '', '-https01', '', '-tlsalpn01', '', '-dns01', `127.0.0.1:${dns}`]
  const managed = [...resolver, '-management', `127.0.0.1:${dnsManagement}`]
  await runServer(t, 'pebble-challtestsrv', managed, dnsManagement)
  const quick = ['PEBBLE_VA_NOSLEEP=1', 'PEBBLE_WFE_NONCEREJECT=0']
  await runServer(t, 'env', [...quick, 'pebble', '-config', config, '-dnsserver', `127.0.0.1:${dns}`], port)

  const acme = {
    domains: ['site.example', 'www.site.example'],
    email: 'ops@site.example',
    directory: `https://localhost:${port}/dir`,
    ca: own.cert,
    folder: join(folder, 'acme'),
    orders: true,
  }
  const { proxy, notices } = await proxyBefore(t, OK, { http: `127.0.0.1:${plain}`, tls: { acme, redirect: true } })
  t.equal((await fetch(`${proxy.adminUrl}/readyz`)).status, 503, 'not ready without a certificate')
  t.equal(await awaitNames(proxy.url), 'DNS:site.example, DNS:www.site.example')
  t.same(notices, ['tls.acme: a certificate for site.example, www.site.example was issued'])
  t.equal((await fetch(`${proxy.adminUrl}/readyz`)).status, 200)
  for (const name of ['certificate.pem', 'certificate.key', 'account.key']) {
    t.equal(statSync(join(acme.folder, name)).mode & 0o777, 0o600, name)
  }
  t.match(await exchange(proxy.httpUrl ?? '', get('/')), /^HTTP\/1\.1 308 /, 'challenges alone are not redirected')

  const issued = readFileSync(join(acme.folder, 'certificate.pem'), 'utf8')
  const other = await proxyBefore(t, OK, { http, tls: { acme: { ...acme, orders: false } } })
  t.equal(await awaitNames(other.proxy.url), 'DNS:site.example, DNS:www.site.example', 'another process serves it too')
  const again = await proxyBefore(t, OK, { http, tls: { acme } })
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
  const third = await proxyBefore(t, OK, { http: `127.0.0.1:${plain}`, tls: { acme } })
  await until(() => third.notices.some((line) => line.endsWith('was issued')))
  const said = third.notices.filter((line) => line.startsWith('tls.acme:'))
  t.match(said, [`${files.cert} does not match its key; ordering a new`, /www\.site\.example was issued$/])
  t.match(readFileSync(join(acme.folder, 'account.key'), 'utf8'), /PRIVATE KEY/)

  await third.proxy.reload({ tls: { acme: { ...acme, domains: ['site.example', 'shop.example'] } } })
  await until(() => third.notices.some((line) => line.endsWith('for site.example, shop.example was issued')))
  while (!(await awaitNames(third.proxy.url))?.includes('shop.example')) await delay(100)
})

t.test('only tokens that are held are answered, and never over TLS', async (t) => {
  const folder = certificateFolder(t)
  await writeChallenge(folder, 'token-1', 'token-1.print')
  const path = '/.well-known/acme-challenge/token-1'
  t.equal(challengeAnswer(folder, path), 'token-1.print')
  t.equal(challengeAnswer(folder, '/.well-known/acme-challenge/other'), undefined)
  t.equal(challengeAnswer(folder, '/.well-known/acme-challenge/../challenges/token-1'), undefined)
  t.equal(challengeAnswer(folder, `${path}?x`), undefined)
  await removeChallenge(folder, 'token-1')
  t.equal(challengeAnswer(folder, path), undefined)
})
