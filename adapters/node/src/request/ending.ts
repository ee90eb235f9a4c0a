import type { EventEmitter } from 'node:events'

/** An emitter of `close` once, as an answer ends. */
export interface Ending extends EventEmitter {
  readonly closed?: boolean | undefined
}

/** The stream of an answer over HTTP/2: of a HEAD that is taken back unanswered Node says nothing on the response. */
export function endingOf(answer: Ending & { readonly stream?: Ending | undefined }): Ending {
  return answer.stream ?? answer
}
