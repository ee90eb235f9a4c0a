import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { missing, run } from './programs.ts'
import { NO_OPENSSL, openSite } from './site.ts'

t.test('git clones, fetches and pushes', { skip: missing('git') || NO_OPENSSL }, async (t) => {
  const { home, url, since, arrived } = await openSite(t)
  const git = async (...args: readonly string[]) => {
    // A body of more than 70,000 bytes is sent in chunks.
    const settings = [
      'user.name=test',
      'user.email=test@site.example',
      'http.postBuffer=70000',
      'init.defaultBranch=main',
    ]
    const ran = await run(home, 'git', [...settings.flatMap((setting) => ['-c', setting]), ...args])
    return ran
  }
  const done = async (...args: readonly string[]) => {
    const { code, out, err } = await git(...args)
    t.equal(code, 0, `git ${args.join(' ')}: ${err}`)
    return out
  }
  await done('init', '--bare', 'shop.git')
  await done('-C', 'shop.git', 'config', 'http.receivepack', 'true')
  await done('clone', `${url}/git/shop.git`, 'first')
  const content = Array.from({ length: 4000 }, (_, line) =>
    createHash('sha256').update(String(line)).digest('hex'),
  ).join('\n')
  writeFileSync(join(home, 'first/large.txt'), content)
  await done('-C', 'first', 'add', '.')
  await done('-C', 'first', 'commit', '-m', 'one')
  await done('-C', 'first', 'push', 'origin', 'HEAD')
  await done('clone', `${url}/git/shop.git`, 'second')
  t.equal(readFileSync(join(home, 'second/large.txt'), 'utf8'), content)
  const pushed = arrived.find(({ target, body }) => target.endsWith('/git-receive-pack') && body.length > 100_000)
  t.equal(pushed?.headers['transfer-encoding'], 'chunked')
  t.ok(since().every((row) => / (?:allow|flag)$/.test(row)))

  const refused = await git('clone', `${url}/blocked`)
  t.equal(refused.code, 128)
  t.match(refused.err, '403')
})

/** A package that installs nothing. */
async function packageOf(t: Test, home: string): Promise<Buffer> {
  const folder = join(home, 'made/DEBIAN')
  mkdirSync(folder, { recursive: true })
  const control = [
    'Package: site-test',
    'Version: 1.0',
    'Architecture: all',
    'Maintainer: test <test@site.example>',
    'Description: made',
  ]
  writeFileSync(join(folder, 'control'), `${control.join('\n')}\n`)
  const built = await run(home, 'dpkg-deb', ['--build', 'made', 'site-test.deb'])
  t.equal(built.code, 0, built.err)
  return readFileSync(join(home, 'site-test.deb'))
}

t.test('apt, from a flat repository', { skip: missing('apt-get') || missing('dpkg-deb') || NO_OPENSSL }, async (t) => {
  const files = new Map<string, Buffer>()
  const { home, url, arrived } = await openSite(t, files)
  const deb = await packageOf(t, home)
  const sha256 = createHash('sha256').update(deb).digest('hex')
  const index = [
    'Package: site-test',
    'Version: 1.0',
    'Architecture: all',
    'Filename: ./site-test.deb',
    `Size: ${deb.length}`,
    `SHA256: ${sha256}`,
  ]
  files.set('/repo/Packages', Buffer.from(`${index.join('\n')}\nDescription: made\n`))
  files.set('/repo/site-test.deb', deb)
  for (const folder of [
    'etc/apt/apt.conf.d',
    'etc/apt/preferences.d',
    'var/lib/apt/lists/partial',
    'var/lib/dpkg',
    'var/cache/apt/archives/partial',
  ])
    mkdirSync(join(home, folder), { recursive: true })
  writeFileSync(join(home, 'var/lib/dpkg/status'), '')
  writeFileSync(join(home, 'etc/apt/sources.list'), `deb [trusted=yes] ${url}/repo ./\n`)
  const settings = {
    Dir: home,
    'Dir::State::status': join(home, 'var/lib/dpkg/status'),
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '0',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const updated = await run(home, 'apt-get', [...options, 'update'])
  t.equal(updated.code, 0, updated.err)
  const targets = arrived.map(({ target }) => target)
  t.same(targets.slice(0, 2), ['/repo/./InRelease', '/repo/./Release'])
  t.ok(targets.includes('/repo/./Packages'))
  const fetched = await run(home, 'apt-get', [...options, 'download', 'site-test'])
  t.equal(fetched.code, 0, fetched.err)
  t.same(readFileSync(join(home, 'site-test_1.0_all.deb')), deb)
  t.equal(arrived.at(-1)?.target, '/repo/./site-test.deb')
})
