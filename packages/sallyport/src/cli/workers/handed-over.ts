import type { Worker } from 'node:cluster'

/** A connection as the primary hands it to a worker. */
interface Handle {
  close(): void
}

/**
 * Closes what was handed to a worker that ended before it took it. Node keeps its copy open for good then, so that the
 * client waits for nobody; a copy that was taken is closed already, and is not closed twice.
 */
export function closeHandedOver(worker: Worker): void {
  const { process } = worker
  /** One at a time is on its way to each listener. */
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

/** As Node's primary writes it; written otherwise, nothing is remembered. */
function isConnection(message: unknown): message is { readonly key: unknown } {
  return (
    typeof message === 'object' && message !== null && 'act' in message && message.act === 'newconn' && 'key' in message
  )
}

function isHandle(handle: unknown): handle is Handle {
  return typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function'
}
