import { once } from 'node:events'
import { connect } from 'node:net'

/** Time for the helper, which waits for nft. */
const TIMEOUT_MS = 20_000

/**
 * Sends lines to the helper at a socket, and resolves once it has done them all. Rejects where it is away, is too slow, or
 * could not do one of them.
 */
export function sendToHelper(path: string, lines: readonly string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = lines.length
    const socket = connect({ path })
    const fail = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    const abort = (): void => fail(new Error('the export is closed'))
    signal.addEventListener('abort', abort)
    socket.on('close', () => signal.removeEventListener('abort', abort))
    socket.setTimeout(TIMEOUT_MS, () => fail(new Error('the helper does not answer')))
    socket.on('error', (error: NodeJS.ErrnoException) => fail(new Error(reasonOf(path, error))))
    socket.on('close', () => reject(new Error('the helper ended the connection')))
    let text = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      const answers = (text + part).split('\n')
      text = answers.pop() ?? ''
      const wrong = answers.find((answer) => answer !== 'ok')
      if (wrong !== undefined) return fail(new Error('nft could not do it: see what the helper says'))
      left -= answers.length
      if (left > 0) return
      socket.end()
      resolve()
    })
    socket.write(lines.map((line) => `${line}\n`).join(''))
  })
}

/** Resolves where a helper listens at a socket, to which nothing is sent. Rejects with the reason why it cannot be reached. */
export async function reachHelper(path: string): Promise<void> {
  const socket = connect({ path })
  try {
    await once(socket, 'connect')
  } catch (error) {
    throw new Error(reasonOf(path, error as NodeJS.ErrnoException))
  } finally {
    socket.destroy()
  }
}

function reasonOf(path: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return `no helper listens at ${path}`
  return code === 'EACCES' ? `${path} is not open to this user: it is open to the group of the helper` : message
}
