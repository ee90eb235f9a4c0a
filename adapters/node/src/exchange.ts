import type { AnswerStatus, Decision, InspectionRequest, UsageTable } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import { keepPrivate } from './answer/private-answer.ts'
import { type Refusal, refusedRequest, rendered } from './answer/refusal.ts'
import type { Observation, Observed } from './observation.ts'
import { announcePhase } from './phases.ts'
import type { Ending } from './request/ending.ts'
import { checkHostNamed, type HeadFault, headFault, type Paths } from './request/head-fault.ts'
import type { HeadFields } from './request/head-fields.ts'
import { INSECURE, isInsecure } from './request/insecure-target.ts'
import type { ReceivedHead } from './request/node-head.ts'
import type { RequestHost } from './request/request-host.ts'

/** An answer that a host sends: Node's own, or what stands for it. */
export interface HostResponse {
  readonly headersSent: boolean
  readonly statusCode: number
  setHeader(name: string, value: string): unknown
  /** Sets it unless the answer has one of that name in the end; absent: where there is none yet. */
  suggestHeader?(name: string, value: string): void
  hasHeader?(name: string): boolean
  getHeader?(name: string): unknown
  writeHead?(status: number, ...more: unknown[]): unknown
  /** Has the answer kept by its client's cache alone; absent: `writeHead` is asked. */
  keepPrivate?(): void
  /** Adds a value beside those that are there. */
  appendHeader?(name: string, value: string): unknown
  removeHeader(name: string): void
}

/** The facts that the phase `receive` reads from a request. */
export interface Received {
  readonly observation: Observation
  readonly head: ReceivedHead
  readonly facts: HeadFields
  /** The configuration in force when the request came. */
  readonly config: RequestHost['config']
}

/** A claim as it was read, or why it could not be. */
export type Claim = string | { readonly fault: unknown }

/** Decides about a head, from memory. */
export interface HeadDecider {
  decide(request: InspectionRequest): Decision
}

/**
 * An exchange carries one request through the phases. Every member is set when its head has arrived, so that all exchanges have one shape;
 * `phases.ts` says which phase reads and writes which member.
 */
export abstract class Exchange implements Observed {
  /** These are set by the constructor of a host's own class. */
  host!: RequestHost
  /** The host's own, for listeners of channels. */
  request!: object
  /** Absent where the host answers on a socket. */
  response: HostResponse | undefined
  /** The emitter whose `close` is the end of the answer. */
  ending!: Ending
  connection: Observed['connection']
  /** These are read by the phase `receive`. */
  observation!: Observation
  head!: ReceivedHead
  facts!: HeadFields
  config: RequestHost['config']
  /** The head that is judged: with the visitor as the application knows it, or that of the request that a server asks about. */
  subject!: ReceivedHead
  /** The head that is decided about: the subject, or for the page of a challenge the request that the page is for. */
  wanted!: ReceivedHead
  /** Whether the request is counted by the rules that count. */
  counts = true
  /** The place of a challenge that the request names. */
  challengePlace: 'script' | 'page' | undefined = undefined
  /** Decides by the rules of its part of the site; absent: the host does. */
  decider: HeadDecider | undefined = undefined
  /** The place that the request claims to come from; absent: it claims nothing. */
  claim: Claim | undefined = undefined
  decision: Decision | undefined = undefined
  /** Table of fields about the use of content; absent: the site has none. */
  usage: Pick<UsageTable, 'fieldsOf'> | undefined = undefined
  /** The fields of the verdict for the origin (name, value, name, value …); absent: the host writes them into its own request. */
  verdict: string[] | undefined = undefined

  /** Takes what `receive` has read, and is observed from now on. */
  take({ observation, head, facts, config }: Received): void {
    this.observation = observation
    this.head = head
    this.facts = facts
    this.config = config
    this.subject = head
    this.wanted = head
    announcePhase('receive', head.id)
    observation.observe(this, this.ending)
  }

  /** Why it is refused before it is looked at. */
  fault(rules: RequestHost, paths: Paths = this.config?.paths ?? 'pass'): HeadFault | undefined {
    const { head, facts } = this
    return headFault(head, facts, paths) ?? (isInsecure(rules, head) ? INSECURE : undefined)
  }

  /** Why it is refused before the API looks at it, which reads a path in one way alone, and says itself what it cannot read. */
  apiFault(rules: RequestHost): HeadFault | undefined {
    return this.fault(rules, 'pass') ?? checkHostNamed(this.head, this.facts)
  }

  /** The answer that refuses it; `why` where nothing was decided against the client. */
  refuse(refusal: Refusal, why?: string): ApiResponse {
    this.observation.refuse(why)
    return this.closing(rendered(refusal, refusedRequest(this.host, this.head)))
  }

  /** Sets a header of the answer where that is not begun; takes it away for `undefined`. */
  tell(name: string, value: string | undefined): void {
    const { response } = this
    if (response === undefined || response.headersSent) return
    if (value === undefined) response.removeHeader(name)
    else response.setHeader(name, value)
  }

  /** Sets a header of the answer that has none of that name. */
  suggest(name: string, value: string): void {
    const { response } = this
    if (response?.suggestHeader !== undefined) response.suggestHeader(name, value)
    else if (response?.hasHeader?.(name) === false) this.tell(name, value)
  }

  /** Sets a cookie beside those of the answer, where that is not begun. */
  addCookie(cookie: string): void {
    const { response } = this
    if (response !== undefined && !response.headersSent) response.appendHeader?.('set-cookie', cookie)
  }

  /** Has the answer of the application kept by no cache that others share. */
  keepPrivate(): void {
    const { response } = this
    if (response?.keepPrivate !== undefined) response.keepPrivate()
    else if (response !== undefined && !response.headersSent) keepPrivate(response)
  }

  /** An answer of ours as it is to be sent while the body may be unread. */
  closing(answer: ApiResponse): ApiResponse {
    return answer
  }

  /** The status that its client was answered with, as rules that count failures read it. */
  status(): AnswerStatus {
    const { response } = this
    if (this.observation.answeredBy !== 'host') return undefined
    // The answer to an upgrade is written on the socket.
    if (response === undefined) return 'unseen'
    return response.headersSent ? response.statusCode : undefined
  }

  /** The value of Content-Type in the answer. */
  contentType(): string | undefined {
    const value = this.response?.getHeader?.('content-type')
    return value === undefined ? undefined : String(value)
  }

  /** Calls it when the answer has ended, at once where it has. */
  onEnd(ended: () => void): void {
    this.observation.onEnd(this.ending, ended)
  }
}

/** How the requests of a host are received; `Place` is a request with all that the host has of it. */
export interface Receiver<Place> {
  receive(host: RequestHost, place: Place): Exchange
  /** Writes the verdict for the host's own code to read; without one takes away what the visitor sent in its place. */
  mark(place: Place, decision: Decision | undefined): void
}
