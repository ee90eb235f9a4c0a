import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { missing, run } from './programs.ts'
import { NO_OPENSSL, openSite } from './site.ts'

/** Makes git send a body of more than 70,000 bytes in chunks. */
const SETTINGS = 'user.name=test user.email=test@site.example http.postBuffer=70000 init.defaultBranch=main'

t.test('git clones, fetches and pushes', { skip: missing('git') || NO_OPENSSL }, async (t) => {
  const { home, url, since, arrived } = await openSite(t)
  const git = (...args: readonly string[]) =>
    run(home, 'git', [...SETTINGS.split(' ').flatMap((setting) => ['-c', setting]), ...args])
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
