import { spawn } from 'node:child_process'

/** What a command said, and its exit code. */
export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Runs a command to its end; both outputs as one text. */
export function run(command: string, args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: environment() })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** What the runner hands to its children would load modules that an empty project does not have. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _runner, ...rest } = process.env
  return { ...rest, npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' }
}

/** Whether npm failed because neither its cache nor a registry has a package. */
export function isUnreachable(output: string): boolean {
  return /\b(ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH)\b/.test(output)
}
