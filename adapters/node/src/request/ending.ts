import type { EventEmitter } from 'node:events'

/** Sends the event `close` once, when an answer ends. */
export interface Ending extends EventEmitter {
  readonly closed?: boolean | undefined
}

/** Returns what ends an answer, over HTTP/2 its stream: when a client cancels an unanswered HEAD, the response emits nothing. */
export function chooseEnding(answer: Ending & { readonly stream?: Ending | undefined }): Ending {
  return answer.stream ?? answer
}
