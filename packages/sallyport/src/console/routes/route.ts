import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Role } from '../access/tokens.ts'
import type { Visitor } from '../access/visitor.ts'
import type { AskOthers, Gather, OwnParts, Share } from '../shares/share.ts'

/** Offers operators actions that a Sallyport alone does not have, where the program provides them. */
export interface ConsoleHooks {
  /** Writes the policy that `written` puts into the configuration file, and adopts it; absent: the console saves no policy. */
  readonly savePolicy?: ((written: (configuration: string) => Promise<string>) => Promise<void>) | undefined
  /** Returns the address of the proxy, which links use. */
  readonly url?: (() => string) | undefined
  /** Asks the consoles of other processes that share the admin listener, through `answerOther`; absent: there are none. */
  readonly askOthers?: AskOthers | undefined
}

export interface ConsoleParts extends OwnParts {
  readonly hooks: ConsoleHooks
  readonly gather: Gather
}

export interface Call<Name extends string = never> {
  readonly visitor: Visitor
  /** Holds the texts that the row takes: of the query of a GET, or of the body of a POST. */
  readonly asked: Readonly<Partial<Record<Name, string>>>
  /** Reports whether the visitor may still read: a session ends. */
  isAdmitted(): boolean
  /** Holds the part of the path in place of `*`. */
  readonly rest: string
  readonly now: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  audit(what: string, details: Readonly<Record<string, unknown>>): void
}

export type Method = 'GET' | 'POST'

type Answering<Name extends string, Answer> = (call: Call<Name>, parts: ConsoleParts) => Answer | Promise<Answer>

interface Terms<Name extends string> {
  readonly role: 'anyone' | Role
  readonly takes?: readonly Name[] | undefined
  /** Lists the questions that other processes answer. */
  readonly shares?: readonly AnyShare[] | undefined
}

/** A row says who may ask, with what, and what is answered as JSON. The answer `undefined` means that the row has answered already. */
export interface Row<Verb extends Method, Path extends string, Name extends string, Answer> extends Terms<Name> {
  readonly method: Verb
  /** The path below `/console/api/`; a `*` at its end matches one segment. */
  readonly path: Path
  readonly answer: Answering<Name, Answer>
}

// biome-ignore lint/suspicious/noExplicitAny: each row knows which texts it takes.
export type AnyRow = Row<Method, string, any, unknown>

/** Makes a row that reads. The page reads the types of what it takes and answers. */
export function get<const Path extends string, Answer, const Name extends string = never>(
  path: Path,
  terms: Partial<Terms<Name>>,
  answer: Answering<Name, Answer>,
): Row<'GET', Path, Name, Answer> {
  return { method: 'GET', role: 'read', path, ...terms, answer }
}

export function post<const Path extends string, Answer, const Name extends string = never>(
  path: Path,
  terms: Terms<Name>,
  answer: Answering<Name, Answer>,
): Row<'POST', Path, Name, Answer> {
  return { method: 'POST', path, ...terms, answer }
}

/** A share whose question the asking process has checked. */
// biome-ignore lint/suspicious/noExplicitAny: each row knows what its own shares are asked.
export type AnyShare = Share<any, unknown>
