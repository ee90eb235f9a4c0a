import type { EventEmitter } from 'node:events'

/** An emitter of `close` once, as an answer ends. */
export interface Ending extends EventEmitter {
  readonly closed?: boolean | undefined
}

/**
 * Calls `ended` when an answer has ended, at once where it has. What that throws is a process warning: the event is the
 * host's, and an error there would end the process.
 */
export function onEnded(answer: Ending, ended: () => void): void {
  const end = endingOf(answer)
  const caught = (): void => {
    try {
      ended()
    } catch (error) {
      process.emitWarning(`The end of a request was not counted: ${error}`, 'SallyportWarning')
    }
  }
  if (end.closed) caught()
  else end.once('close', caught)
}

/** The stream of an answer over HTTP/2: of a HEAD that is taken back unanswered Node says nothing on the response. */
export function endingOf(answer: Ending & { readonly stream?: Ending | undefined }): Ending {
  return answer.stream ?? answer
}
