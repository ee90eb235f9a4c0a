import cluster, { type Worker } from 'node:cluster'
import { isRecord, type VisitEvent } from '@sallyport/core'
import type { Config, Scraped, ServiceEvent } from '@sallyport/engine'
import type { WorkerCounts } from '@sallyport/proxy/internal'

type FromWorker =
  | { readonly worker: 'begins' | 'lives' }
  | { readonly worker: 'serves' | 'reloaded'; readonly config: Config }
  | { readonly worker: 'counted'; readonly counted: Scraped }
  | { readonly worker: 'event'; readonly event: ServiceEvent }
  | { readonly worker: 'refused'; readonly count: number }
  | { readonly worker: 'visits'; readonly events: readonly VisitEvent[] }

export type FromPrimary =
  | { readonly primary: 'start'; readonly leads: boolean; readonly first: boolean; readonly config: Config | undefined }
  | { readonly primary: 'lead' }
  | { readonly primary: 'visits'; readonly events: readonly VisitEvent[] }
  | { readonly primary: 'workers'; readonly counts: WorkerCounts }

export function isFromWorker(message: unknown): message is FromWorker {
  return isRecord(message) && 'worker' in message
}

export function isFromPrimary(message: unknown): message is FromPrimary {
  return isRecord(message) && 'primary' in message
}

/** Sends a message to the primary, if there is one: another parent process receives nothing. Calls `sent` once the message has left, or cannot. */
export function sendToPrimary(message: object, sent: () => void = ignore): void {
  if (cluster.isWorker && process.connected) process.send?.(message, undefined, undefined, sent)
  else sent()
}

/** Sends a message to a worker; a worker that is gone receives nothing, and its exit is reported. */
export function sendTo(worker: Worker, message: object): void {
  if (worker.isConnected()) worker.send(message as Parameters<Worker['send']>[0], ignore)
}

/** Ignores errors: without a callback a pipe that breaks now would be an exception of the whole process. */
function ignore(): void {}
