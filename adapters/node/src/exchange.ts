import type { AnswerStatus, Decision } from '@sallyport/core'
import type { McpBody } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { keepPrivate, type WritableHead } from './answer/private-answer.ts'
import { type Refusal, rendered } from './answer/refusal.ts'
import type { ChallengePlace } from './challenge/places.ts'
import type { HeadDecider } from './decider.ts'
import type { Ending, Observation, Observed } from './observation.ts'
import { announcePhase } from './phases.ts'
import { checkHostNamed, type HeadFault, headFault, type Paths } from './request/head-fault.ts'
import type { HeadFields } from './request/head-fields.ts'
import { INSECURE, isInsecure } from './request/insecure-target.ts'
import type { ReceivedHead } from './request/node-head.ts'
import type { RequestHost } from './request/request-host.ts'

/** An answer that a host sends: Node's own, or a substitute. */
export interface HostResponse extends WritableHead {
  readonly headersSent: boolean
  readonly statusCode: number
  /** Lets only the client's cache keep the answer; absent: `writeHead` does it. */
  keepPrivate?(): void
  /** Adds a value to the existing values. */
  appendHeader?(name: string, value: string): unknown
}

export interface Received {
  readonly observation: Observation
  readonly head: ReceivedHead
  readonly facts: HeadFields
  /** The configuration in force when the request came. */
  readonly config: RequestHost['config']
}

/** Fields of the origin's answer that are reported at the end of its request. */
export interface AnsweredFields {
  readonly contentType: string | undefined
  readonly setCookies: readonly string[] | undefined
}

/** A claim, or the error that prevented reading it. */
export type Claim = string | { readonly fault: unknown }

/**
 * An exchange carries one request through the phases. Every member is set when its head has arrived, so that all exchanges have one shape;
 * `phases.ts` says which phase reads and writes which member.
 */
export abstract class Exchange implements Observed {
  /** The constructor of a host's class has set these members. */
  host!: RequestHost
  /** The host's own request, which listeners of channels receive. */
  request!: object
  /** Absent where the host answers on a socket. */
  response: HostResponse | undefined
  /** Sends the event `close` when the answer ends. */
  ending!: Ending
  connection: Observed['connection']
  /** These members are what the phase `receive` reads. */
  observation!: Observation
  head!: ReceivedHead
  facts!: HeadFields
  config: RequestHost['config']
  /** The head that is judged: with the visitor as the application knows it, or of the request that a server in front checks. */
  subject!: ReceivedHead
  /** The head that is decided about: the subject, or the request that a challenge page is for. */
  wanted!: ReceivedHead
  /** Whether the rules that count include the request. */
  counts = true
  /** Names the place of a challenge that the request is for. */
  challengePlace: ChallengePlace | undefined = undefined
  /** Decides by the rules of its part of the site; absent: the host decides. */
  decider: HeadDecider | undefined = undefined
  /** The claim of the request to come from a place; absent: it claims nothing. */
  claim: Claim | undefined = undefined
  decision: Decision | undefined = undefined
  /** Whether a phase has read the body for MCP calls; the body is handed on. */
  hasReadCalls = false
  /** Holds the fields of the verdict for the origin (name, value, …); absent: the host writes the verdict into its own request. */
  verdict: string[] | undefined = undefined
  /** Holds fields of the answer where a proxy has read them; absent: `response` holds the whole answer. */
  answered: AnsweredFields | undefined = undefined

  /** Takes what `receive` has read; the observation begins here. */
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

  /** Returns the reason to refuse the request before it is judged. */
  fault(rules: RequestHost, paths: Paths = this.config?.paths ?? 'pass'): HeadFault | undefined {
    const { head, facts } = this
    return headFault(head, facts, paths) ?? (isInsecure(rules, head) ? INSECURE : undefined)
  }

  /** Returns the reason to refuse the request before the API reads it; the API itself reports what it cannot read of a path. */
  apiFault(rules: RequestHost): HeadFault | undefined {
    return this.fault(rules, 'pass') ?? checkHostNamed(this.head, this.facts)
  }

  /** Refuses the request; `why` names the cause where no decision refuses the client. */
  refuse(refusal: Refusal, why?: string): ApiResponse {
    const { host, head, observation } = this
    const { id, fields, mcp } = head
    observation.refuse(why)
    const isBrowser = () => host.isBrowser?.(head) === true
    return this.closing(rendered(refusal, { id, fields, mcp, page: host.refusalPage, isBrowser }))
  }

  /** Reads the body once, before its reader, which then receives it as if it were unread. */
  async readBody(): Promise<McpBody> {
    return { missing: 'unseen' }
  }

  /** Sets a header of an answer that has not begun; `undefined` removes the header. */
  setField(name: string, value: string | undefined): void {
    const { response } = this
    if (response === undefined || response.headersSent) return
    if (value === undefined) response.removeHeader(name)
    else response.setHeader(name, value)
  }

  /** Adds a cookie to an answer that has not begun. */
  addCookie(cookie: string): void {
    const { response } = this
    if (response !== undefined && !response.headersSent) response.appendHeader?.('set-cookie', cookie)
  }

  /** Keeps shared caches from the answer of the application. */
  keepPrivate(): void {
    const { response } = this
    if (response?.keepPrivate !== undefined) response.keepPrivate()
    else if (response !== undefined && !response.headersSent) keepPrivate(response)
  }

  /** Prepares an answer of ours for sending while the body may be unread. */
  closing(answer: ApiResponse): ApiResponse {
    return answer
  }

  /** Returns the status that the client received, which rules that count failures read. */
  status(): AnswerStatus {
    const { response } = this
    if (this.observation.answeredBy !== 'host') return undefined
    // The application writes the answer to an upgrade on the socket.
    if (response === undefined) return 'unseen'
    return response.headersSent ? response.statusCode : undefined
  }

  /** Returns the value of Content-Type in the answer. */
  contentType(): string | undefined {
    if (this.answered !== undefined) return this.answered.contentType
    const value = this.response?.getHeader?.('content-type')
    return value === undefined ? undefined : String(value)
  }

  /** Returns the values of Set-Cookie in the answer. */
  setCookies(): readonly string[] | undefined {
    if (this.answered !== undefined) return this.answered.setCookies
    const value = this.response?.getHeader?.('set-cookie')
    if (value === undefined) return undefined
    return Array.isArray(value) ? value : [String(value)]
  }

  /** Calls `ended` when the answer has ended, or at once where it already has. */
  onEnd(ended: () => void): void {
    this.observation.onEnd(this.ending, ended)
  }
}

/** Receives the requests of a host; `Place` is a request with all that the host has of it. */
export interface Receiver<Place> {
  receive(host: RequestHost, place: Place): Exchange
  /** Writes the verdict for the host's own code to read; without a decision removes what the visitor sent under our names. */
  mark(place: Place, decision: Decision | undefined): void
}
