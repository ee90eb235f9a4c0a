import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isSafeSqlite } from '@sallyport/engine'
import { tarballName } from '../packaging/installs.ts'
import { makeFolder } from '../started.ts'
import { publishedWorkspaces, ROOT, readManifest, SHARED_FILES } from '../workspaces.ts'
import { findFrom, installedWith, readPlace } from './locked.ts'

/*
 * `node test/dist/release/standalone.js FOLDER`: the command with the Node that runs this, for a machine without one, as one archive.
 * It holds what the lock file names, and our packages from the tarballs that are in the folder.
 */
const SQLITE = isSafeSqlite(process.versions['sqlite']) ? [] : ['@photostructure/sqlite']
const DRIVERS = ['@redis/client', 'acme-client', 'pg', ...SQLITE]
const LEDGER_DRIVERS = ['asn1js', 'pkijs']
const PLATFORM = `${process.platform}-${process.arch}`

const LAUNCHER = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/node" "$here/../node_modules/sallyport/bin/sallyport.mjs" "$@"
`

const UNREAD = new RegExp(
  String.raw`\.map$|\.d\.[cm]?ts$|@photostructure/sqlite/(src|scripts|prebuilds/(?!${PLATFORM}(/|$)))`,
)

const released = resolve(process.argv[2] ?? '')
const { version } = readManifest('packages/sallyport')
const name = `sallyport-${version}-${PLATFORM}`
const work = makeFolder()
const top = join(work, name)

const drivers = [
  ...DRIVERS.map((driver) => findFrom('adapters/proxy', driver) ?? ''),
  ...LEDGER_DRIVERS.map((driver) => findFrom('packages/ledger', driver) ?? ''),
]
const workspaces = new Map(publishedWorkspaces().map(({ folder, manifest }) => [folder, manifest]))

for (const path of installedWith(['packages/sallyport', ...drivers])) {
  const own = workspaces.get(path)
  const place = join(top, readPlace(path))
  mkdirSync(place, { recursive: true })
  if (own === undefined) {
    cpSync(join(ROOT, path), place, { recursive: true, filter: (from) => from === join(ROOT, path) || isRead(from) })
  } else {
    execFileSync('tar', ['-xzf', join(released, tarballName(own)), '--strip-components=1', '-C', place])
  }
}
mkdirSync(join(top, 'bin'))
copyFileSync(process.execPath, join(top, 'bin/node'))
writeFileSync(join(top, 'bin/sallyport'), LAUNCHER, { mode: 0o755 })
for (const file of SHARED_FILES) copyFileSync(join(ROOT, file), join(top, file))
const node = dirname(dirname(process.execPath))
// Debian's package has the licence of Node elsewhere.
const licence = [node, join(node, 'share/doc/nodejs')].map((folder) => join(folder, 'LICENSE')).find(existsSync)
if (licence === undefined) throw new Error(`the licence of ${process.execPath} is not beside it`)
copyFileSync(licence, join(top, 'LICENSE-node'))

const archive = join(released, `${name}.tar.gz`)
execFileSync('tar', ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '-czf', archive, '-C', work, name])

/** Packages within another one are packages of their own. */
function isRead(from: string): boolean {
  return !UNREAD.test(from) && !from.endsWith('/node_modules')
}
