import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { installedWith, readTitle } from '../release/locked.ts'
import { makeFolder } from '../started.ts'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'
import { tarballName } from './installs.ts'
import { run, whyUnreachable } from './npm.ts'

/*
 * `npm run release` makes a folder that is whole, with right checksums and the bill of the lock file, and that can be installed
 * from.
 */
t.setTimeout(900_000)
const folder = makeFolder()
const RELEASE = join(folder, 'release')
const NOBODY = { ACTIONS_ID_TOKEN_REQUEST_URL: '', SIGSTORE_ID_TOKEN: '' }
const release = (...args: readonly string[]) => run(join(ROOT, '.ci/release'), args, ROOT, NOBODY)

const WORKSPACES = publishedWorkspaces()
const VERSION = WORKSPACES.find(({ manifest }) => manifest.name === 'sallyport')?.manifest.version ?? ''
const TARBALLS = WORKSPACES.map(({ manifest }) => tarballName(manifest))
const STANDALONE = `sallyport-${VERSION}-${process.platform}-${process.arch}`
const MAX_STANDALONE_MB = 120

const made = await release(RELEASE)

t.test('every file is there, and its checksum is right', async (t) => {
  t.equal(made.code, 0, made.output)
  const others = [`${STANDALONE}.tar.gz`, 'Dockerfile', 'PACKAGES', 'image.yaml', 'sbom.cdx.json']
  const files = [...TARBALLS, ...others].sort()
  t.same(readdirSync(RELEASE).sort(), [...files, 'SHA256SUMS'].sort())
  const checked = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], RELEASE)
  const good = files.map((name) => `${name}: OK`)
  t.same(checked.output.trim().split('\n').sort(), good)
  t.match(await release(RELEASE), { code: 2, output: /is not empty/ })
  t.match(await release('--publish'), { code: 1, output: /needs the identity of a CI run/ })
})

function listed(): readonly { readonly name: string; readonly version: string }[] {
  return JSON.parse(readFileSync(join(RELEASE, 'sbom.cdx.json'), 'utf8')).components
}

t.test('the bill of materials lists what the lock file lists', async (t) => {
  const locked = installedWith(WORKSPACES.map(({ folder }) => folder)).map(readTitle)
  t.ok(locked.length > 80)
  t.same([...new Set(listed().map(({ name, version }) => `${name}@${version}`))].sort(), [...new Set(locked)].sort())
})

t.test('the command of the README installs from the files, in an empty folder', async (t) => {
  const [, files = ''] =
    /npm install \S+\/release\/(\S+\.tgz)/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
  const command = `npm install ./${files}`
  const project = join(folder, 'project')
  mkdirSync(project)
  for (const name of TARBALLS) execFileSync('cp', [join(RELEASE, name), project])
  const installed = await run('sh', ['-c', command], project, { npm_config_prefer_offline: 'true' })
  const skip = whyUnreachable(installed)
  if (skip) return t.pass('skipped', { skip })
  t.equal(installed.code, 0, installed.output)
  t.match(await run('npx', ['--no-install', 'sallyport', '--version'], project), { code: 0, output: `${VERSION}\n` })
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  const entries = Object.entries<{ resolved?: string | undefined; peer?: true | undefined }>(packages)
  const ours = entries.filter(([path]) => /(@|\/)sallyport(\/|$)/.test(path))
  t.equal(ours.length, TARBALLS.length)
  const foreign = ours.filter(([, { resolved }]) => !resolved?.startsWith('file:'))
  t.same(foreign, [], 'each of ours is from its file')
  // The peers are the frameworks of the adapters, which npm adds.
  const others = entries.filter(([path, { peer }]) => path !== '' && !peer)
  const names = others.map(([path]) => path.replace(/.*node_modules\//, ''))
  t.same([...new Set(listed().map(({ name }) => name))].sort(), [...new Set(names)].sort(), 'as many as the bill says')
})

t.test('the archive runs where there is no Node, and answers', async (t) => {
  const archive = join(RELEASE, `${STANDALONE}.tar.gz`)
  const megabytes = statSync(archive).size / 1e6
  t.ok(megabytes <= MAX_STANDALONE_MB, `${megabytes.toFixed(1)} MB`)
  execFileSync('tar', ['-xzf', archive, '-C', folder])
  const command = join(folder, STANDALONE, 'bin/sallyport')
  // No Node is in this PATH, and of the rest what the launcher needs.
  const PATH = join(folder, 'tools')
  mkdirSync(PATH)
  for (const tool of ['dirname', 'readlink']) symlinkSync(join('/usr/bin', tool), join(PATH, tool))
  const bare = { encoding: 'utf8', env: { PATH, HOME: folder } } as const
  t.equal(execFileSync(command, ['--version'], bare), `${VERSION}\n`)
  const dataDir = join(folder, 'data')
  t.match(execFileSync(command, ['lookup', '185.220.101.10', '--data-dir', dataDir], bare), /\btor\b/)
  for (const file of ['LICENSE', 'NOTICE', 'LICENSE-node']) t.ok(existsSync(join(folder, STANDALONE, file)), file)
})
