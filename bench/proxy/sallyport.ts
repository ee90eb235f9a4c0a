import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort, type Program, startProgram } from './program.ts'
import type { CertificateFiles } from './servers.ts'

/* The proxy as it is installed: by its command and a configuration file. The benches and fault runs start it here alone. */

const COMMAND = fileURLToPath(new URL('bin/sallyport.mjs', import.meta.resolve('@sallyport/cli/package.json')))

/** Lines of the configuration that a run needs, as the document of the configuration names them. */
export interface Raised {
  readonly limits?: Readonly<Record<string, number>>
  readonly timeouts?: Readonly<Record<string, string>>
  readonly tls?: { readonly certificates: readonly CertificateFiles[] }
  readonly console?: { readonly enabled: boolean }
  readonly log?: { readonly requests: string; readonly file?: string }
}

export interface Options {
  /** A folder of its own: the configuration is written there. */
  readonly folder: string
  /** Compiled data, of `compileData`. */
  readonly dataDir: string
  readonly upstream: string
  readonly trustProxy?: readonly string[]
  readonly workers?: number
  readonly processor?: number
  readonly raised?: Raised
}

export interface Sallyport extends Program {
  /** Where health is asked. */
  readonly admin: string
}

/** All data that comes with the project, cities too, compiled once, so that no run measures its compilation. */
export async function compileData(dataDir: string): Promise<void> {
  await promisify(execFile)(process.execPath, [COMMAND, 'data', 'compile', '--data-dir', dataDir])
}

export async function startSallyport(options: Options): Promise<Sallyport> {
  const { folder, dataDir, upstream, trustProxy = [], workers, processor, raised = {} } = options
  const [port, adminPort] = [await freePort(), await freePort()]
  const admin = `http://127.0.0.1:${adminPort}`
  await mkdir(folder, { recursive: true })
  const file = join(folder, `sallyport-${port}.json`)
  const config = {
    listen: `127.0.0.1:${port}`,
    admin: `127.0.0.1:${adminPort}`,
    upstream,
    trustProxy,
    dataDir,
    data: { refresh: false },
    ...raised,
  }
  await writeFile(file, JSON.stringify(config))
  const program = await startProgram({
    command: process.execPath,
    args: [COMMAND, 'proxy', '--config', file, ...(workers === undefined ? [] : ['--workers', String(workers)])],
    port,
    processor,
    async ready() {
      const { status } = await fetch(`${admin}/readyz`)
      if (status !== 200) throw new Error(`not ready: ${status}`)
    },
  })
  return { ...program, admin }
}
