import type { Worker } from 'node:cluster'
import { isRecord } from '@sallyport/core'

/** Closes a connection that was sent to a worker which ended before it took it: Node would keep its copy open for ever. */
export function closeHandedOver(worker: Worker): void {
  const { process } = worker
  /** Each listener sends one connection at a time. */
  const last = new Map<unknown, { close(): void }>()
  const send = process.send.bind(process) as (...sent: readonly unknown[]) => boolean
  process.send = (...sent: readonly unknown[]) => {
    const [message, handle] = sent
    // In another form than Node's primary writes nothing is remembered.
    if (isRecord(message) && message['act'] === 'newconn' && isHandle(handle)) last.set(message['key'], handle)
    return send(...sent)
  }
  worker.once('exit', () => {
    for (const handle of last.values()) handle.close()
  })
}

function isHandle(handle: unknown): handle is { close(): void } {
  return isRecord(handle) && typeof handle['close'] === 'function'
}
