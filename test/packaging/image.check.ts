import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { startOrigin } from '../hosts/proxy.ts'
import { makeFolder } from '../started.ts'
import { ROOT } from '../workspaces.ts'
import { type Container, type ImageConfig, startContainer } from './container.ts'
import { type Buildah, makeBase } from './image-base.ts'
import { measureSize } from './installs.ts'
import { isUnreachable, pack, run } from './npm.ts'

/*
 * The image, by the Dockerfile that users build, and by this repository's packages: built by buildah, and run by runc as an orchestrator
 * confines it. Its base is made of Debian's packages and npm's Node, where a registry of images would have node:24-bookworm-slim.
 */
const TOOLS = ['buildah', 'debootstrap', 'runc']
const missing = TOOLS.filter((name) => spawnSync(name, ['--version']).error !== undefined)
const NO_BUILDER = mayMount() ? missing.length > 0 && `no ${missing.join(', ')}` : 'nobody may mount here'

const MAX_IMAGE_MB = 250
const MEMORY_BYTES = 512 * 2 ** 20

t.setTimeout(900_000)
// buildah mounts its storage and what is built of it, and leaves both: the folder is removed after this.
process.prependOnceListener('exit', () => {
  const mounts = NO_BUILDER === false ? readFileSync('/proc/self/mounts', 'utf8').split('\n') : []
  const places = mounts.map((line) => line.split(' ')[1] ?? '').filter((place) => place.startsWith(folder))
  if (places.length > 0) spawnSync('umount', places.reverse())
})
const folder = makeFolder()

const buildah: Buildah = async (...args) => {
  const places = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'storage-run')]
  const { code, output } = await run('buildah', [...places, ...args], folder)
  if (code !== 0) throw new Error(`buildah ${args.join(' ')}: ${output.slice(-4_000)}`)
  return output.trim()
}

/** Builds the image as `docker build dist/release` does; resolves to its root and its configuration. */
async function build(): Promise<{ readonly rootfs: string; readonly image: ImageConfig }> {
  await makeBase(folder, buildah)
  const context = join(folder, 'context')
  await pack(context)
  const docker = join(ROOT, 'examples/docker')
  cpSync(join(docker, 'image.yaml'), join(context, 'image.yaml'))
  // The base made here has the name, and not the digest.
  const definition = readFileSync(join(docker, 'Dockerfile'), 'utf8').replace(/@sha256:\w+/, '')
  writeFileSync(join(context, 'Dockerfile'), definition)
  const how = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--quiet', '--tag', 'gate']
  await buildah('build', ...how, context)
  const container = (await buildah('from', 'gate')).split('\n').at(-1) ?? ''
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'gate'))
  return { rootfs: await buildah('mount', container), image: Docker.config }
}

t.test('the image', { skip: NO_BUILDER }, async (t) => {
  const built = await build().catch((error: Error) => error)
  if (built instanceof Error && isUnreachable(built.message)) return t.pass('no registry', { skip: true })
  if (built instanceof Error) throw built
  const { rootfs, image } = built

  await t.test('is small, and holds no more than it runs', async (t) => {
    const megabytes = measureSize(rootfs) / 1e6
    t.ok(megabytes <= MAX_IMAGE_MB, `${megabytes.toFixed(1)} MB`)
    t.equal(image.User, '1000:1000')
    const sqlite = 'app/node_modules/@photostructure/sqlite'
    for (const path of ['bin/sh', 'usr/bin/sh', 'usr/bin/apt', 'usr/local/bin/npm', sqlite])
      t.notOk(existsSync(join(rootfs, path)), `no ${path}`)
    const listed = readdirSync(join(rootfs, 'var/lib/dpkg/status.d')).join('\n')
    for (const name of ['libc6', 'libstdc++6']) t.ok(`\n${listed}`.includes(`\n${name}`), `${name} is listed`)
    t.match(readFileSync(join(rootfs, 'etc/os-release'), 'utf8'), /^ID=debian$/m)
    t.ok(existsSync(join(rootfs, 'usr/local/LICENSE')))
  })

  const upstream = await startOrigin(t, (_, res) => res.end('hello from the origin'))
  const [port, admin] = [await freePort(), await freePort()]
  const bundle = join(folder, 'container')
  mkdirSync(bundle)
  const config = join(folder, 'sallyport.yaml')
  const listen = { listen: `127.0.0.1:${port}`, admin: `127.0.0.1:${admin}`, upstream }
  const data = { dataDir: '/var/lib/sallyport', data: { readOnly: true }, dns: { servers: ['127.0.0.1:9'] } }
  const settings = { ...listen, ...data, trustProxy: ['loopback'], policy: { preset: 'protect-content' } }
  writeFileSync(config, JSON.stringify(settings))
  const mounts = { '/etc/sallyport/sallyport.yaml': config }
  const name = `sallyport-${process.pid}`
  const gate = startContainer({ folder: bundle, name, rootfs, image, mounts, memoryBytes: MEMORY_BYTES })
  await answers(gate, `http://127.0.0.1:${admin}/healthz`)

  await t.test('answers, and refuses a scraper', async (t) => {
    const ask = (agent: string) => {
      const headers = { 'user-agent': agent, 'x-forwarded-for': '73.162.10.20', connection: 'close' }
      return fetch(`http://127.0.0.1:${port}/`, { headers })
    }
    const visitor = await ask('curl/8.5.0')
    t.same([visitor.status, await visitor.text()], [200, 'hello from the origin'], gate.said())
    const scraper = await ask('GPTBot/1.2')
    t.equal(scraper.status, 403, await scraper.text())
  })

  await t.test('is confined, healthy, and needs little memory', async (t) => {
    const status = readFileSync(`/proc/${await gate.pid()}/status`, 'utf8')
    for (const fact of [/^Uid:\s+1000\s/m, /^CapEff:\s+0+$/m, /^NoNewPrivs:\s+1$/m]) t.match(status, fact)
    const writes = ["require('fs').writeFileSync(process.argv[1], '')", '/var/lib/sallyport/x']
    t.match(await gate.exec(['node', '-e', ...writes]), { output: /EROFS/ })
    const [, ...health] = image.Healthcheck.Test
    const asked = health.map((argument) => argument.replace('9090', String(admin)))
    t.match(await gate.exec(asked), { code: 0 })
    t.match(await gate.exec(['sallyport', 'lookup', '185.220.101.10']), { code: 0, output: /\btor\b/ })
  })

  await t.test('ends on SIGTERM with 0', async (t) => t.equal(await gate.stop('TERM'), 0, gate.said()))
})

/** Whether this is a root who may mount: one in a container mostly may not. */
function mayMount(): boolean {
  if (process.platform !== 'linux') return false
  const [, rights = '0'] = /^CapEff:\s+(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  const CAP_SYS_ADMIN = 21n
  return (BigInt(`0x${rights}`) >> CAP_SYS_ADMIN) % 2n === 1n
}

/** Resolves once something answers with 200; throws what the container said where it never will. */
async function answers(gate: Container, url: string): Promise<void> {
  while ((await fetch(url).catch(() => undefined))?.ok !== true) {
    if (gate.ended()) throw new Error(gate.said())
    await delay(100)
  }
}
