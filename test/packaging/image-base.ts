import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { install, run } from './npm.ts'

/** Runs buildah over a storage of its own, and gives what it said; throws where it failed. */
export type Buildah = (...args: readonly string[]) => Promise<string>

const BASE = 'docker.io/library/node:24-bookworm-slim'

/** Makes an image of that name of Debian's packages and of Node as npm has it, since no registry of images is reached. */
export async function makeBase(folder: string, buildah: Buildah): Promise<void> {
  const root = join(folder, 'debian')
  const made = async (command: string, args: readonly string[]) => {
    const { code, output } = await run(command, args, folder)
    if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${output.slice(-2_000)}`)
    return output.trim()
  }
  await made('debootstrap', ['--variant=minbase', '--include=libstdc++6', 'bookworm', root])
  await made('chroot', [root, 'useradd', '--create-home', '--uid', '1000', 'node'])

  const packed = join(folder, 'node')
  mkdirSync(packed)
  const { code, output } = await install(packed, ['node@24'])
  if (code !== 0) throw new Error(output)
  const local = join(root, 'usr/local')
  const node = join(packed, 'node_modules/node/bin/node')
  cpSync(node, join(local, 'bin/node'))
  chmodSync(join(local, 'bin/node'), 0o755)
  const names = readdirSync(packed, { recursive: true, encoding: 'utf8' })
  const licence = names.find((name) => /node-linux-\w+\/LICENSE$/.test(name))
  cpSync(join(packed, licence ?? 'no licence of Node'), join(local, 'LICENSE'))
  const npm = join(await made('npm', ['root', '--global']), 'npm')
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name))

  // As npm is set up on this machine: it may trust an authority of its own, and its cache is at hand.
  const authority = await made('npm', ['config', 'get', 'cafile'])
  const settings = ['prefer-offline=true', 'update-notifier=false']
  if (existsSync(authority)) {
    cpSync(authority, join(root, 'etc/npm-authority.pem'))
    settings.push('cafile=/etc/npm-authority.pem')
  }
  mkdirSync(join(local, 'etc'), { recursive: true })
  writeFileSync(join(local, 'etc/npmrc'), `${settings.join('\n')}\n`)

  const container = await buildah('from', 'scratch')
  await buildah('add', '--quiet', container, root, '/')
  await buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container)
  await buildah('commit', '--quiet', '--rm', container, BASE)
}
