import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Role } from '../access/tokens.ts'
import type { Visitor } from '../access/visitor.ts'
import type { AskOthers, Gather, OwnParts, Share } from '../shares/share.ts'

/** Offers operators actions that a Sallyport alone does not have, where the program provides them. */
export interface ConsoleHooks {
  /**
   * Writes a policy into the configuration file, whose new text `written` returns, and adopts it; absent: the console cannot save a policy.
   */
  readonly savePolicy?: ((written: (configuration: string) => Promise<string>) => Promise<void>) | undefined
  /** Returns the address of the proxy, which links use. */
  readonly url?: (() => string) | undefined
  /** Asks the consoles of other processes that share the admin listener, through `answerOther`; absent: there are none. */
  readonly askOthers?: AskOthers | undefined
}

/** Holds everything from which the console's routes answer. */
export interface ConsoleParts extends OwnParts {
  readonly hooks: ConsoleHooks
  /** Asks all processes of the cluster. */
  readonly gather: Gather
}

/** Reads a query by the names that a row takes. */
export interface Query<Name extends string> {
  get(name: Name): string | null
  toString(): string
}

/** A body with the names that a row takes; the row reads its values. */
export type Body<Name extends string> = Readonly<Partial<Record<Name, unknown>>>

/** Describes one call of the console's API. */
export interface Call<Name extends string = never> {
  readonly visitor: Visitor
  /** Names the reader that counts as one: a session, or a token at one address. */
  readonly reader: string
  /** Reports whether the visitor may still read: a session ends. */
  isAdmitted(): boolean
  readonly query: Query<Name>
  /** Holds the part of the path in place of `*`. */
  readonly rest: string
  readonly now: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Throws `invalid_request` where the body is no map of keys. */
  body(): Promise<Body<Name>>
  /** Records what an operator did. */
  audit(what: string, details: Readonly<Record<string, unknown>>): void
}

export type Method = 'GET' | 'POST'

/** A row says who may ask, with what, and what is answered as JSON. The answer `undefined` means that the row has answered already. */
export interface Row<Verb extends Method, Path extends string, Name extends string, Answer> {
  readonly method: Verb
  /** The path below `/console/api/`; a `*` at its end matches one segment. */
  readonly path: Path
  readonly role: 'anyone' | Role
  /** Names texts in the query of a GET, or in the body of a POST. */
  readonly takes?: readonly Name[] | undefined
  /** Lists the questions that other processes answer. */
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

/** A share whose question the asking process has checked. */
// biome-ignore lint/suspicious/noExplicitAny: each row knows what its own shares are asked.
export type AnyShare = Share<any, unknown>
