import { userInfo } from 'node:os'
import { SallyportError } from '@sallyport/core'
import { type Config, openAuditTrail } from '@sallyport/engine'
import type { Terminal } from '../terminal/terminal.ts'
import { type CommonOptions, readConfig } from './settings.ts'

/** Holds ids and names, never a key. */
type Details = Readonly<Record<string, unknown>>

/** Runs a command and records who ran it, also on failure; `what` names the command. Without a trail the command does not run. */
export async function audited<Result>(
  options: CommonOptions,
  what: string,
  details: Details | ((result: Result) => Details),
  terminal: Terminal,
  act: (config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(options)
  const trail = await openAuditTrail(config, (line) => terminal.err(line))
  const who = whoAsks()
  try {
    const result = await act(config)
    trail.audit({ what, who, details: typeof details === 'function' ? details(result) : details })
    return result
  } catch (error) {
    const code = error instanceof SallyportError ? error.code : 'internal_error'
    trail.audit({ what, who, error: code, ...(typeof details === 'function' ? {} : { details }) })
    throw error
  } finally {
    await trail.close()
  }
}

function whoAsks(): string {
  const { SUDO_USER } = process.env
  let name = `user ${process.getuid?.() ?? '?'}`
  try {
    name = userInfo().username
  } catch {
    // A container's user may have no name.
  }
  return SUDO_USER === undefined ? name : `${SUDO_USER} as ${name}`
}
