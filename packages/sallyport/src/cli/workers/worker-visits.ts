import type { Sallyport } from '@sallyport/engine'
import { isFromPrimary, sendToPrimary } from './worker-messages.ts'

/**
 * Tells the other workers which requests of visits ended here, and counts theirs. The connections of one browser end in several workers, so
 * two workers may answer a page and its files. Returns a function that stops it.
 */
export function shareVisits({ share, takeAll }: Sallyport['behaviour']): () => void {
  share((events) => sendToPrimary({ worker: 'visits', events }))
  const take = (message: unknown): void => {
    if (isFromPrimary(message) && message.primary === 'visits') takeAll(message.events)
  }
  process.on('message', take)
  return () => void process.off('message', take)
}
