import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, listening } from '@sallyport/engine/testing'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { type Container, type ImageConfig, startContainer } from './container.ts'
import { type Buildah, makeBase } from './image-base.ts'
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
const folder = mkdtempSync(join(realpathSync(tmpdir()), 'sallyport-image-'))
process.once('exit', () => {
  // buildah mounts its storage and what is built of it, and leaves both.
  const mounts = NO_BUILDER === false ? readFileSync('/proc/self/mounts', 'utf8').split('\n') : []
  const places = mounts.map((line) => line.split(' ')[1] ?? '').filter((place) => place.startsWith(folder))
  if (places.length > 0) spawnSync('umount', places.reverse())
  rmSync(folder, { recursive: true, force: true })
})

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
  await buildah(
    'build',
    '--isolation',
    'chroot',
    '--format',
    'docker',
    '--pull-never',
    '--quiet',
    '--tag',
    'gate',
    context,
  )
  const container = (await buildah('from', 'gate')).split('\n').at(-1) ?? ''
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'gate'))
  return { rootfs: await buildah('mount', container), image: Docker.config }
}

/** Sums the bytes of the files below a folder, and counts a file of several names once. */
function measureSize(folder: string): number {
  const seen = new Set<number>()
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const { ino, size } = statSync(join(entry.parentPath, entry.name))
    if (!seen.has(ino)) bytes += size
    seen.add(ino)
  }
  return bytes
}

t.test('the image', { skip: NO_BUILDER }, async (t) => {
  const built = await build().catch((error: Error) => error)
  if (built instanceof Error && isUnreachable(built.message)) return t.pass('no registry', { skip: true })
  if (built instanceof Error) throw built
  const { rootfs, image } = built

  await t.test('is small, and holds no more than it runs', async (t) => {
    const megabytes = measureSize(rootfs) / 1e6
    t.comment(`${megabytes.toFixed(1)} MB`)
    t.ok(megabytes <= MAX_IMAGE_MB, `${megabytes.toFixed(1)} MB`)
    t.equal(image.User, '1000:1000')
    for (const path of [
      'bin/sh',
      'usr/bin/sh',
      'usr/bin/apt',
      'usr/local/bin/npm',
      'app/node_modules/@photostructure/sqlite',
    ])
      t.notOk(existsSync(join(rootfs, path)), `no ${path}`)
    const scanned = readdirSync(join(rootfs, 'var/lib/dpkg/status.d'))
    for (const name of ['libc6', 'libstdc++6'])
      t.ok(
        scanned.some((file) => file.startsWith(name)),
        `${name} is listed`,
      )
    t.match(readFileSync(join(rootfs, 'etc/os-release'), 'utf8'), /^ID=debian$/m)
    t.ok(existsSync(join(rootfs, 'usr/local/LICENSE')))
  })

  const origin = createServer((_, res) => res.end('hello from the origin'))
  const upstream = `http://127.0.0.1:${await listening(t, origin)}`
  const [port, admin] = [await freePort(), await freePort()]
  const bundle = join(folder, 'container')
  mkdirSync(bundle)
  const config = join(folder, 'sallyport.yaml')
  const lines = [
    `listen: 127.0.0.1:${port}`,
    `admin: 127.0.0.1:${admin}`,
    `upstream: ${upstream}`,
    'dataDir: /var/lib/sallyport',
    'data: { readOnly: true }',
    'trustProxy: [loopback]',
    'dns: { servers: ["127.0.0.1:9"] }',
    'policy: { preset: protect-content }',
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const gate = startContainer({
    folder: bundle,
    name: `sallyport-${process.pid}`,
    rootfs,
    image,
    env: {},
    mounts: { '/etc/sallyport/sallyport.yaml': config },
    memoryBytes: MEMORY_BYTES,
  })
  await answers(gate, `http://127.0.0.1:${admin}/healthz`)

  await t.test('answers, and refuses a scraper', async (t) => {
    const ask = (agent: string, address: string) =>
      fetch(`http://127.0.0.1:${port}/`, {
        headers: { 'user-agent': agent, 'x-forwarded-for': address, connection: 'close' },
      })
    const visitor = await ask('curl/8.5.0', '73.162.10.20')
    t.same([visitor.status, await visitor.text()], [200, 'hello from the origin'], gate.said())
    const scraper = await ask('GPTBot/1.2', '73.162.10.20')
    t.equal(scraper.status, 403, await scraper.text())
  })

  await t.test('is confined, healthy, and needs little memory', async (t) => {
    const status = readFileSync(`/proc/${await gate.pid()}/status`, 'utf8')
    t.match(status, /^Uid:\s+1000\s/m)
    t.match(status, /^CapEff:\s+0+$/m)
    t.match(status, /^NoNewPrivs:\s+1$/m)
    t.equal(readMemoryLimit(await gate.pid()), MEMORY_BYTES)
    t.comment(/^VmHWM:.*$/m.exec(status)?.[0])
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

/** The bytes that a process and its kind may use, as the kernel has it; of control groups of either version. */
function readMemoryLimit(pid: number): number {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  const [, old] = /^\d+:memory:(.*)$/m.exec(groups) ?? []
  const [, unified = ''] = /^0::(.*)$/m.exec(groups) ?? []
  const file = old === undefined ? `${unified}/memory.max` : `memory${old}/memory.limit_in_bytes`
  return Number(readFileSync(join('/sys/fs/cgroup', file), 'utf8'))
}

/** Resolves once something answers with 200; throws what the container said where it never will. */
async function answers(gate: Container, url: string): Promise<void> {
  const ask = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await ask())) {
    if (gate.ended()) throw new Error(gate.said())
    await delay(100)
  }
}
