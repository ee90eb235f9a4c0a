import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isSafeSqlite } from '@sallyport/engine'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'

/** Names what a user installs beside our packages where this Node has no SQLite that is safe. */
export const SQLITE = isSafeSqlite(process.versions['sqlite']) ? [] : ['@photostructure/sqlite@^1.2.1']

export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Runs a command to its end; both outputs as one text. */
export function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...environment(), ...env } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** The runner's environment for its children would load modules that an empty project does not have. */
export function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _runner, ...rest } = process.env
  return { ...rest, npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' }
}

export function isUnreachable(output: string): boolean {
  return /\b(ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH)\b/.test(output)
}

/** Returns why a test is skipped where a command failed for want of a registry; otherwise `false`. */
export function whyUnreachable({ code, output }: Ran): string | false {
  return code !== 0 && isUnreachable(output) && "npm's cache lacks a package, and no registry"
}

/** Packs every workspace that is published, and resolves with the paths of the tarballs. */
export async function pack(folder: string): Promise<readonly string[]> {
  mkdirSync(folder)
  const workspaces = publishedWorkspaces()
  const args = ['pack', '--silent', '--pack-destination', folder, ...workspaces.flatMap(({ folder }) => ['-w', folder])]
  const packed = await run('npm', args, ROOT)
  const files = readdirSync(folder).map((name) => join(folder, name))
  if (files.length !== workspaces.length) throw new Error(packed.output)
  return files
}

/** Installs packages into a project, from npm's cache where that has them. */
export function install(project: string, names: readonly string[]): Promise<Ran> {
  return run('npm', ['install', '--prefer-offline', '--loglevel', 'error', ...names], project)
}
