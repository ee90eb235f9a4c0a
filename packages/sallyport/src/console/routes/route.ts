import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Role } from '../access/tokens.ts'
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

/** A query, by the names that a row takes. */
export interface Query<Name extends string> {
  get(name: Name): string | null
  toString(): string
}

/** A body, by the names that a row takes; its values are read by the row. */
export type Body<Name extends string> = Readonly<Partial<Record<Name, unknown>>>

/** One call of the console's API. */
export interface Call<Name extends string = never> {
  readonly visitor: Visitor
  /** The reader that is counted as one: a session, or a token from one address. */
  readonly reader: string
  /** Whether they may still read: a session ends. */
  isAdmitted(): boolean
  readonly query: Query<Name>
  /** The part of the path that `*` stands for. */
  readonly rest: string
  readonly now: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Throws `invalid_request` where the body is no map of keys. */
  body(): Promise<Body<Name>>
  /** Writes down what somebody did. */
  audit(what: string, details: Readonly<Record<string, unknown>>): void
}

export type Method = 'GET' | 'POST'

/** A row: who may ask, with what, and what is answered as JSON. `undefined` as the answer: it was answered already. */
export interface Row<Verb extends Method, Path extends string, Name extends string, Answer> {
  readonly method: Verb
  /** Below `/console/api/`; a `*` at its end is one segment. */
  readonly path: Path
  readonly role: 'anyone' | Role
  /** The names of texts in the query of a GET, in the body of a POST. */
  readonly takes?: readonly Name[] | undefined
  /** Questions to the other processes. */
  readonly shares?: readonly AnyShare[] | undefined
  answer(call: Call<Name>, parts: ConsoleParts): Answer | Promise<Answer>
}

export type AnyRow = Row<Method, string, string, unknown>

/** Gives a row the type of what it takes and answers, which the page reads. */
export function row<Verb extends Method, const Path extends string, Answer, const Name extends string = never>(
  one: Row<Verb, Path, Name, Answer>,
): Row<Verb, Path, Name, Answer> {
  return one
}

/** A share whose question was checked by the process that asks. */
// biome-ignore lint/suspicious/noExplicitAny: each row knows what its own shares are asked.
export type AnyShare = Share<any, unknown>
