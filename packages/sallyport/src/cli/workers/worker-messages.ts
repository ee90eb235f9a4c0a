import type { Worker } from 'node:cluster'
import type { Config, Scraped, ServiceEvent } from '@sallyport/engine'
import type { WorkerCounts } from '@sallyport/proxy/internal'

/** Messages of a worker to its primary. */
export type FromWorker =
  | { readonly worker: 'begins' | 'lives' }
  | { readonly worker: 'serves' | 'reloaded'; readonly config: Config }
  | { readonly worker: 'counted'; readonly counted: Scraped }
  | { readonly worker: 'event'; readonly event: ServiceEvent }
  | { readonly worker: 'refused'; readonly count: number }

/** Messages of the primary to its workers. */
export type FromPrimary =
  | {
      readonly primary: 'start'
      readonly leads: boolean
      readonly first: boolean
      readonly config?: Config | undefined
    }
  | { readonly primary: 'lead' }
  | { readonly primary: 'workers'; readonly counts: WorkerCounts }

export function isFromWorker(message: unknown): message is FromWorker {
  return typeof message === 'object' && message !== null && 'worker' in message
}

export function isFromPrimary(message: unknown): message is FromPrimary {
  return typeof message === 'object' && message !== null && 'primary' in message
}

/**
 * Sends to the primary; one that is gone hears nothing, and its worker ends for that. `sent` is called once the message has
 * left, or cannot.
 */
export function sendToPrimary(message: object, sent: () => void = ignore): void {
  if (process.connected) process.send?.(message, undefined, undefined, sent)
  else sent()
}

/** Sends to a worker; one that is gone hears nothing, and its exit says so. */
export function sendTo(worker: Worker, message: object): void {
  if (worker.isConnected()) worker.send(message as Parameters<Worker['send']>[0], ignore)
}

/** Without a callback a pipe that breaks at this moment is an exception of the whole process. */
function ignore(): void {}
