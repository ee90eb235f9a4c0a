import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Visitor } from '../access/visitor.ts'
import type { AskOthers, Gather, OwnParts, Share } from '../shares/share.ts'

/** Actions open to an operator beyond what a Sallyport offers, where a program offers it. */
export interface ConsoleHooks {
  /**
   * Writes a policy into the configuration file, by what gives the text of that with it, and takes it over; absent: the
   * console cannot save one.
   */
  readonly savePolicy?: ((written: (configuration: string) => Promise<string>) => Promise<void>) | undefined
  /** The address of the proxy, for links. */
  readonly url?: (() => string) | undefined
  /** Asks the consoles of the other processes that share the admin listener, by `answerOther`; absent: there are none. */
  readonly askOthers?: AskOthers | undefined
}

/** Everything that the console's routes answer from. */
export interface ConsoleParts extends OwnParts {
  readonly hooks: ConsoleHooks
  /** Asks all processes of the cluster. */
  readonly gather: Gather
}

/** One call of the console's API. */
export interface Call {
  readonly visitor: Visitor
  /** The reader that is counted as one: a session, or a token from one address. */
  readonly reader: string
  /** Whether they may still read: a session ends. */
  isAdmitted(): boolean
  readonly query: URLSearchParams
  /** The part of the path that `*` stands for. */
  readonly rest: string
  readonly now: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  body(): Promise<unknown>
  /** Writes down what somebody did. */
  audit(what: string, details: Readonly<Record<string, unknown>>): void
}

/** A row: who may ask, and what is answered as JSON. `undefined` as the answer: it was answered already. */
export interface Row {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/console/api/`; a `*` at its end is one segment. */
  readonly path: string
  readonly role: 'anyone' | 'read' | 'admin'
  /** Questions to the other processes. */
  readonly shares?: readonly AnyShare[]
  answer(call: Call, parts: ConsoleParts): unknown
}

/** A share whose question was checked by the process that asks. */
// biome-ignore lint/suspicious/noExplicitAny: each row knows what its own shares are asked.
export type AnyShare = Share<any, unknown>
