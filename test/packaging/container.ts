import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './npm.ts'

/** The part of an image's configuration that says how it is run, as `buildah inspect` gives it. */
export interface ImageConfig extends Readonly<Record<'Env' | 'Entrypoint' | 'Cmd', readonly string[]>> {
  readonly User: string
  readonly WorkingDir: string
  readonly Healthcheck: { readonly Test: readonly string[] }
}

interface ContainerOptions {
  /** The specification of the container is written into this folder of its own. */
  readonly folder: string
  readonly name: string
  readonly rootfs: string
  readonly image: ImageConfig
  /** Files of the host by their place in the container, read-only. */
  readonly mounts: Readonly<Record<string, string>>
  readonly memoryBytes: number
}

export type Container = ReturnType<typeof startContainer>

const BOUND = ['bind', 'ro']

/** A container as orchestrators confine it: no capability, no new one, nothing written but to /tmp. Its network is the host's. */
function writeSpec({ rootfs, image, mounts, memoryBytes }: ContainerOptions): object {
  const [uid = 0, gid = 0] = image.User.split(':').map(Number)
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }
  const options = ['nosuid', 'nodev', 'noexec']
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...image.Entrypoint, ...image.Cmd],
      env: image.Env,
      cwd: image.WorkingDir,
      capabilities: none,
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=64k'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: [...options, 'mode=1777', 'size=16m'] },
      ...Object.entries(mounts).map(([destination, source]) => ({ destination, source, type: 'bind', options: BOUND })),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      resources: { memory: { limit: memoryBytes, swap: memoryBytes } },
    },
  }
}

/** Starts a container under runc. */
export function startContainer(options: ContainerOptions) {
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
    /** Returns the process of the host that is the first one in the container. */
    pid: async (): Promise<number> => JSON.parse((await runc('state', name)).output).pid,
    said: () => said,
    ended: () => child.exitCode !== null,
    exec: (args: readonly string[]) => runc('exec', name, ...args),
    /** Sends a signal to the first process; resolves to the exit code. */
    async stop(signal: string) {
      await runc('kill', name, signal)
      return (await ended)[0]
    },
  }
}
