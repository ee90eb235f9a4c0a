import type { ChallengeStep, Decision, ObservedRequest } from '@sallyport/core'
import type { Ending } from './ending.ts'
import type { NodeHead } from './node-head.ts'
import type { RequestHost } from './request-host.ts'
import { newId } from './request-id.ts'

/** On the raw fields of a request: its observation. Known to every copy of this package in a process. */
const OBSERVATION: unique symbol = Symbol.for('sallyport.observation') as never

/** A request that a server in front asks about. */
export interface OriginalRequest {
  readonly method: string
  readonly target: string
  readonly host: string
}

/** All that is kept of a request: its id, what is learnt of it, and what ends with it. One object, the same at every call. */
export class Observation {
  readonly id: string
  answeredBy: ObservedRequest['answeredBy'] = 'host'
  decision: Decision | undefined = undefined
  refusedFor: string | undefined = undefined
  /** The request's part in a challenge. */
  challenge: ChallengeStep | undefined = undefined
  /** From `performance.now()`, when it was decided. */
  decidedAt: number | undefined = undefined
  /** The request that is asked about, where that is another one. */
  original: OriginalRequest | undefined = undefined
  /** Status of an answer that has none of its own, as a tunnel's. */
  status: number | undefined = undefined
  /** Tells who observes requests that it has ended; absent where nobody does. */
  report: (() => void) | undefined = undefined
  /** Gives back all else that a host holds for it; absent where that is nothing. */
  release: (() => void) | undefined = undefined
  #counted: (() => void)[] | undefined = undefined
  #heard = false
  #ended = false

  constructor(id: string) {
    this.id = id
  }

  /** Calls `ended` at the end of the answer, at once where that has been. */
  onEnd(end: Ending, ended: () => void): void {
    if (this.#ended || end.closed) {
      caught(ended)
      return
    }
    if (this.#counted === undefined) this.#counted = [ended]
    else this.#counted.push(ended)
    this.hear(end)
  }

  /** Ends with an answer; that has one listener for all that ends then. */
  hear(end: Ending): void {
    if (this.#heard) return
    this.#heard = true
    end.on('close', () => this.end())
  }

  /** Its answer has ended. Only the first call does something. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.report?.()
    this.release?.()
    for (const ended of this.#counted ?? []) caught(ended)
  }
}

/** An error of what ends with a request is a process warning: the event is the host's, and one there would end the process. */
function caught(ended: () => void): void {
  try {
    ended()
  } catch (error) {
    process.emitWarning(`The end of a request was not counted: ${error}`, 'SallyportWarning')
  }
}

type Kept = string[] & { [OBSERVATION]?: Observation | undefined }

/**
 * The observation of a request of Node, which is made at the first call. It is kept on the list of its fields: Express gives
 * each request a hidden class of its own, and a member more is a copy of that, which costs as much as a decision (D480).
 */
export function observationOf(host: RequestHost, req: NodeHead): Observation {
  const kept: Kept = req.rawHeaders
  const known = kept[OBSERVATION]
  if (known !== undefined) return known
  // HTTP/2 hides the socket of a stream that is already gone.
  const peer = (req.socket as NodeHead['socket'] | undefined)?.remoteAddress
  const observation = new Observation(newId(host, peer, req.headers))
  // A member that is not enumerable would take ten times as long.
  kept[OBSERVATION] = observation
  return observation
}

/** The decision about a request of Node; `undefined` before there is one. */
export function decisionOn({ rawHeaders }: { readonly rawHeaders: Kept }): Decision | undefined {
  return rawHeaders[OBSERVATION]?.decision
}
