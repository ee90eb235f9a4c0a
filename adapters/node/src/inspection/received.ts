import type { AnswerStatus, Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import { keepPrivate } from '../answer/private-answer.ts'
import { checkHostNamed, type HeadFault, headFault, type Paths } from '../request/head-fault.ts'
import { INSECURE, isInsecure } from '../request/insecure-target.ts'
import type { Observation } from '../request/observation.ts'
import type { RequestHost } from '../request/request-host.ts'
import { ID_HEADER } from '../request/request-id.ts'
import type { Answering } from './decide-head.ts'
import { observe, type Reception } from './observation.ts'

/** A request that is to be inspected, or answered by the API. It is observed, and its answer is named its id. */
export class Received implements Answering {
  readonly reception: Reception
  readonly observation: Observation

  constructor(host: RequestHost, reception: Reception) {
    this.reception = reception
    this.observation = reception.observation
    observe(host, reception)
    this.tell(ID_HEADER, reception.head.id)
  }

  /** Why it is refused before it is looked at. */
  fault(rules: RequestHost, paths: Paths = rules.config?.paths ?? 'pass'): HeadFault | undefined {
    const { head, facts } = this.reception
    return headFault(head, facts, paths) ?? (isInsecure(rules, head) ? INSECURE : undefined)
  }

  /** Why it is refused before the API looks at it, which reads a path in one way alone, and says itself what it cannot read (D391). */
  apiFault(rules: RequestHost): HeadFault | undefined {
    const { head, facts } = this.reception
    return this.fault(rules, 'pass') ?? checkHostNamed(head, facts)
  }

  /** Sets a header of the answer where that is not begun; takes it away for `undefined`. */
  tell(name: string, value: string | undefined): void {
    const { response } = this.reception
    if (response === undefined || response.headersSent) return
    if (value === undefined) response.removeHeader(name)
    else response.setHeader(name, value)
  }

  /** Sets a header of the answer that has none of that name. */
  suggest(name: string, value: string): void {
    const { response } = this.reception
    if (response?.suggestHeader !== undefined) response.suggestHeader(name, value)
    else if (response?.hasHeader?.(name) === false) this.tell(name, value)
  }

  /** Sets a cookie beside those of the answer, where that is not begun. */
  addCookie(cookie: string): void {
    const { response } = this.reception
    if (response !== undefined && !response.headersSent) response.appendHeader?.('set-cookie', cookie)
  }

  /** Has the answer of the application kept by no cache that others share. */
  keepPrivate(): void {
    const { response } = this.reception
    if (response?.keepPrivate !== undefined) response.keepPrivate()
    else if (response !== undefined && !response.headersSent) keepPrivate(response)
  }

  /** An answer of ours as it is to be sent while the body may be unread. */
  closing(answer: ApiResponse): ApiResponse {
    return answer
  }

  status(): AnswerStatus {
    const { response } = this.reception
    if (this.observation.answeredBy !== 'host') return undefined
    // The answer to an upgrade is written on the socket.
    if (response === undefined) return 'unseen'
    return response.headersSent ? response.statusCode : undefined
  }

  contentType(): string | undefined {
    const value = this.reception.response?.getHeader?.('content-type')
    return value === undefined ? undefined : String(value)
  }

  onEnd(ended: () => void): void {
    this.observation.onEnd(this.reception.end, ended)
  }
}

/** How the requests of a host are received; `Place` is a request with all that the host has of it. */
export interface Receiver<Place> {
  receive(host: RequestHost, place: Place): Received
  /** Writes the verdict for the host's own code to read; without one takes away what the visitor sent in its place. */
  mark(place: Place, decision: Decision | undefined): void
}
