import type { Worker } from 'node:cluster'

/** A connection that the primary sends to a worker. */
interface Handle {
  close(): void
}

/**
 * Closes a connection that was sent to a worker which ended before it took it. Node would keep its copy open for ever, so that the client
 * waits for nothing; a copy that was taken is closed already, and is not closed twice.
 */
export function closeHandedOver(worker: Worker): void {
  const { process } = worker
  /** Each listener sends one connection at a time. */
  const last = new Map<unknown, Handle>()
  const send = process.send.bind(process) as (...sent: readonly unknown[]) => boolean
  process.send = (...sent: readonly unknown[]) => {
    const [message, handle] = sent
    if (isConnection(message) && isHandle(handle)) last.set(message.key, handle)
    return send(...sent)
  }
  worker.once('exit', () => {
    for (const handle of last.values()) handle.close()
  })
}

/** Recognises a message as Node's primary writes it; in another form nothing is remembered. */
function isConnection(message: unknown): message is { readonly key: unknown } {
  return (
    typeof message === 'object' && message !== null && 'act' in message && message.act === 'newconn' && 'key' in message
  )
}

function isHandle(handle: unknown): handle is Handle {
  return typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function'
}
