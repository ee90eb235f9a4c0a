import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ran, run } from './npm.ts'

/** The part of an image's configuration that says how it is run, as `buildah inspect` gives it. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Healthcheck: { readonly Test: readonly string[] }
}

/** How a container is run: the file system of its image, and what its user says. */
export interface ContainerOptions {
  /** The specification of the container is written into this folder of its own. */
  readonly folder: string
  readonly name: string
  readonly rootfs: string
  readonly image: ImageConfig
  readonly env: Readonly<Record<string, string>>
  /** Files of the host by their place in the container, read-only. */
  readonly mounts: Readonly<Record<string, string>>
  readonly memoryBytes: number
}

/** Controls a container that is running. */
export interface Container {
  /** Process of the host that is the first one in the container. */
  pid(): Promise<number>
  /** Returns the output so far of stdout and stderr. */
  said(): string
  /** Reports whether its first process has ended. */
  ended(): boolean
  /** Runs a command beside the first process. */
  exec(args: readonly string[]): Promise<Ran>
  /** Sends a signal to the first process; resolves to the exit code. */
  stop(signal: string): Promise<number | null>
}

/** A container as orchestrators confine it: no capability, no new one, nothing written but to /tmp. Its network is the host's. */
function writeSpec({ rootfs, image, env, mounts, memoryBytes }: ContainerOptions): object {
  const [uid = 0, gid = 0] = image.User.split(':').map(Number)
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }
  const options = ['nosuid', 'nodev', 'noexec']
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...image.Entrypoint, ...image.Cmd],
      env: [...image.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      cwd: image.WorkingDir,
      capabilities: none,
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=64k'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: [...options, 'mode=1777', 'size=16m'] },
      ...Object.entries(mounts).map(([destination, source]) => {
        return { destination, type: 'bind', source, options: ['bind', 'ro'] }
      }),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      resources: { memory: { limit: memoryBytes, swap: memoryBytes } },
    },
  }
}

/** Starts a container under runc. */
export function startContainer(options: ContainerOptions): Container {
  const { folder, name } = options
  const state = join(folder, 'state')
  mkdirSync(state, { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify(writeSpec(options)))
  const runc = (...args: readonly string[]) => run('runc', ['--root', state, ...args], folder)
  const child = spawn('runc', ['--root', state, 'run', '--bundle', folder, name], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close') as Promise<[number | null]>
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (said += bytes))
  return {
    pid: async () => JSON.parse((await runc('state', name)).output).pid,
    said: () => said,
    ended: () => child.exitCode !== null,
    exec: (args) => runc('exec', name, ...args),
    async stop(signal) {
      await runc('kill', name, signal)
      const [code] = await ended
      return code
    },
  }
}
