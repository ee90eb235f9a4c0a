import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { run } from '../packaging/npm.ts'
import { makeFolder } from '../started.ts'
import { ROOT } from '../workspaces.ts'

/* `.ci/release --publish` against a registry of npm that keeps what it is sent in memory. */
const folder = makeFolder(t)

interface Sent {
  readonly name: string
  readonly versions: Readonly<Record<string, { readonly dist: { readonly integrity: string } }>>
}

const kept = new Map<string, Sent>()
const order: string[] = []
let refused = ''
const registry = createServer(async (request, response) => {
  const name = decodeURIComponent((request.url ?? '').slice(1).split('?')[0] ?? '')
  const body: Buffer[] = []
  for await (const chunk of request) body.push(chunk)
  if (request.method === 'PUT') {
    if (name === refused) return response.writeHead(503).end('{}')
    kept.set(name, JSON.parse(Buffer.concat(body).toString()))
    order.push(name)
    return response.writeHead(201).end('{}')
  }
  const sent = kept.get(name)
  if (sent === undefined) return response.writeHead(404).end('{}')
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(sent))
})

function makeRelease(out: string): void {
  mkdirSync(out)
  const packages = ['@gate-test/part', 'gate-test'].map((name) => {
    const place = join(folder, name.replace('/', '-'))
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '1.2.3' }))
    return execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: place, encoding: 'utf8' })
  })
  writeFileSync(join(out, 'PACKAGES'), packages.join(''))
  seal(out)
}

function seal(out: string): void {
  execFileSync('sh', ['-c', 'rm -f SHA256SUMS && sha256sum -- * > SUMS && mv SUMS SHA256SUMS'], { cwd: out })
}

t.test('a release that broke off is resumed, and nothing else is sent in its place', async (t) => {
  const port = await listening(t, registry)
  const npmrc = join(folder, 'npmrc')
  writeFileSync(npmrc, `registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=x\nfetch-retries=0\n`)
  const out = join(folder, 'release')
  makeRelease(out)
  const publish = (identity = 'token') =>
    run(join(ROOT, '.ci/release'), ['--publish', out], ROOT, {
      ACTIONS_ID_TOKEN_REQUEST_URL: '',
      SIGSTORE_ID_TOKEN: identity,
      npm_config_provenance: 'false',
      npm_config_userconfig: npmrc,
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: join(folder, 'cache'),
    })

  t.match(await publish(''), { code: 1, output: /needs the identity of a CI run/ })
  t.same(order, [])

  refused = 'gate-test'
  t.not((await publish()).code, 0, 'npm took one of two')
  refused = ''
  t.match(await publish(), { code: 0, output: /@gate-test\/part@1\.2\.3: was sent before\ngate-test@1\.2\.3: sent/ })
  t.same(order, ['@gate-test/part', 'gate-test'])
  const file = readFileSync(join(out, 'gate-test-1.2.3.tgz'))
  const integrity = `sha512-${createHash('sha512').update(file).digest('base64')}`
  t.equal(kept.get('gate-test')?.versions['1.2.3']?.dist.integrity, integrity, 'the file itself')

  writeFileSync(join(folder, 'gate-test/readme.md'), 'other bytes')
  execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: join(folder, 'gate-test') })
  t.not((await publish()).code, 0, 'a file that is not that of the checksums')
  seal(out)
  t.match(await publish(), { code: 1, output: /npm has another gate-test@1\.2\.3/ })
  t.equal(order.length, 2)
})
