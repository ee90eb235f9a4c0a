import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ConfigInput } from '@sallyport/engine'
import { freePort } from '@sallyport/engine/testing'
import { type Program, startProgram } from './program.ts'

/* The proxy as it is installed: by its command and a configuration file. The benches start it here alone. */

const OWN_COMMAND = fileURLToPath(new URL('bin/sallyport.mjs', import.meta.resolve('sallyport/package.json')))

export interface Options {
  /** A run writes its configuration into this folder. */
  readonly folder: string
  /** `compileData` compiled the data of this folder. */
  readonly dataDir: string
  readonly upstream: string
  readonly workers?: number | undefined
  readonly processor?: number | undefined
  /** Keys of the configuration that a run needs. */
  readonly raised?: ConfigInput | undefined
  /** Options of Node itself, which its workers get too. */
  readonly node?: readonly string[] | undefined
  /** The command of another checkout replaces our own. */
  readonly command?: string | undefined
}

export interface Sallyport extends Program {
  /** The health listener serves this URL. */
  readonly admin: string
  /** Sallyport reads its configuration from this file, and reads the file again at SIGHUP. */
  readonly file: string
}

/** Runs a command to its end and gives what it printed. */
export async function runCommand(
  args: readonly string[],
  node: readonly string[] = [],
  command = OWN_COMMAND,
): Promise<string> {
  return (await promisify(execFile)(process.execPath, [...node, command, ...args])).stdout
}

/** All data that comes with the project, cities too, compiled once, so that no run measures its compilation. */
export async function compileData(dataDir: string, command?: string): Promise<void> {
  await runCommand(['data', 'compile', '--data-dir', dataDir], [], command)
}

export async function startSallyport(options: Options): Promise<Sallyport> {
  const { folder, dataDir, upstream, workers, processor, raised = {}, node = [], command = OWN_COMMAND } = options
  const [port, adminPort] = await Promise.all([freePort(), freePort()])
  const admin = `http://127.0.0.1:${adminPort}`
  await mkdir(folder, { recursive: true })
  const file = join(folder, `sallyport-${port}.json`)
  const config = {
    listen: `127.0.0.1:${port}`,
    admin: `127.0.0.1:${adminPort}`,
    upstream,
    trustProxy: ['loopback'],
    dataDir,
    data: { refresh: false },
    ...raised,
  }
  await writeFile(file, JSON.stringify(config))
  const args = [...node, command, 'proxy', '--config', file]
  const program = await startProgram({
    command: process.execPath,
    args: [...args, ...(workers === undefined ? [] : ['--workers', String(workers)])],
    port,
    processor,
    async ready() {
      const { status } = await fetch(`${admin}/readyz`)
      if (status !== 200) throw new Error(`not ready: ${status}`)
    },
  })
  return { ...program, admin, file }
}
