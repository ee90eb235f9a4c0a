import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { errorText } from '@sallyport/core'
import type { Terminal } from '../terminal/terminal.ts'

const run = promisify(execFile)

const PATIENCE_MS = 5_000
const MAX_STATUS_LENGTH = 200

/** Names the states of a service, as in sd_notify(3). */
type ServiceState = 'ready' | 'reloading' | 'stopping'

/**
 * Tells systemd the state of this service, where systemd asks for it (`NOTIFY_SOCKET`). Never rejects: a failure is a line. Node has no
 * datagram sockets of files, so systemd-notify sends the message, and its unit needs `NotifyAccess=all`.
 */
export async function notifySystemd(state: ServiceState, status: string, terminal: Terminal): Promise<void> {
  if (process.env['NOTIFY_SOCKET'] === undefined) return
  try {
    // A line break would begin another variable.
    const text = status.replaceAll(/\s+/g, ' ').slice(0, MAX_STATUS_LENGTH)
    await run('systemd-notify', [...listVariables(state), `STATUS=${text}`], { timeout: PATIENCE_MS })
  } catch (error) {
    const reason = errorText(error).trim()
    terminal.err(`sallyport: could not notify systemd that this service is ${state}: ${reason}`)
  }
}

function listVariables(state: ServiceState): readonly string[] {
  // Type=notify-reload must know which reload it is; process.hrtime is the monotonic clock of the kernel.
  if (state === 'reloading') return ['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`]
  return [state === 'ready' ? 'READY=1' : 'STOPPING=1']
}
