import type { PolicyReader, Sallyport } from '@sallyport/engine'
import type { History } from '../history/history.ts'
import type { Trail } from '../history/trail.ts'

/** Answers of the other processes of a cluster, and how many gave none in time. */
export interface OthersSaid {
  readonly answers: readonly unknown[]
  readonly silent: number
}

/** Everything that a process answers from. */
export interface OwnParts {
  readonly sallyport: Sallyport
  readonly history: History
  readonly policies: PolicyReader
  readonly trail: Trail
  /** When the console was opened, milliseconds since the epoch. */
  readonly since: number
  /** Id of this process within its cluster. */
  readonly id: string
}

/** A part of an answer that each process of a cluster knows its own share of: question and share travel as JSON. */
export interface Share<Question, Own> {
  readonly name: string
  own(question: Question, parts: OwnParts): Own | Promise<Own>
}

/** The shares of all processes, this one's first. */
export interface Gathered<Own> {
  readonly shares: readonly Own[]
  /** Processes that are there and said nothing in time: what they know is missing. */
  readonly silent: number
}

/** Asks this process and the others. Rejects as this one's own share does. */
export type Gather = <Question, Own>(share: Share<Question, Own>, question: Question) => Promise<Gathered<Own>>

/** Asks the other processes about a name; absent: there are none. */
export type AskOthers = (about: { readonly name: string; readonly question: unknown }) => Promise<OthersSaid>

export function createGather(parts: OwnParts, askOthers: AskOthers | undefined): Gather {
  return async <Question, Own>({ name, own }: Share<Question, Own>, question: Question) => {
    const asked = askOthers?.({ name, question })
    parts.sallyport.drain()
    const mine = await own(question, parts)
    const { answers = [], silent = 0 } = (await asked) ?? {}
    return { shares: [mine, ...(answers as readonly Own[])], silent }
  }
}
