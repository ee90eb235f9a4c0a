import { lstatSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { type Change, MAX_LINE, parseChange } from './change.ts'

/** Programs that talk to the helper at one time. */
const MAX_CONNECTIONS = 16
/** Changes of one transaction. */
const BATCH = 500
const IDLE_MS = 60_000

/** Readable and writable for the user and the group of this process alone. */
const SOCKET_UMASK = 0o117

/**
 * Listens at a path for changes, a line each, and answers `ok` or `failed` to each in its order. A line of another form ends
 * its connection. Its group is that of this process: nobody else can connect. Rejects where the path is taken.
 */
export async function openListener(
  path: string,
  apply: (changes: readonly Change[]) => Promise<boolean>,
): Promise<Server> {
  await removeLeft(path)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.setTimeout(IDLE_MS, () => socket.destroy())
    // It ends the connection, whichever way this ends; nothing more is read than answers are taken.
    pipeline(socket, (parts: AsyncIterable<Buffer>) => answersTo(parts, apply), socket).catch(() => {})
  })
  server.maxConnections = MAX_CONNECTIONS
  const before = process.umask(SOCKET_UMASK)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
    })
  } finally {
    process.umask(before)
  }
  return server
}

/** The answers to the lines of a connection, in their order. The socket bounds what waits, in both directions. */
async function* answersTo(
  parts: AsyncIterable<Buffer>,
  apply: (changes: readonly Change[]) => Promise<boolean>,
): AsyncGenerator<string> {
  let rest = ''
  for await (const part of parts) {
    const lines = `${rest}${part.toString('latin1')}`.split('\n')
    rest = lines.pop() ?? ''
    const changes = lines.map(parseChange).filter((change) => change !== undefined)
    if (changes.length < lines.length || rest.length > MAX_LINE) throw new Error('a line of another form')
    for (let from = 0; from < changes.length; from += BATCH) {
      const batch = changes.slice(from, from + BATCH)
      yield ((await apply(batch)) ? 'ok\n' : 'failed\n').repeat(batch.length)
    }
  }
}

/** The socket of a helper that was killed is in the way of the next. */
async function removeLeft(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isSocket()) throw new Error(`${path} exists and is not a socket`)
  const isTaken = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'))
  })
  if (isTaken) throw new Error(`another helper listens at ${path}`)
  unlinkSync(path)
}
