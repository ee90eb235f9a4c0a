import type { PolicyReader, Sallyport } from '@sallyport/engine'
import type { History } from '../history/history.ts'
import type { Trail } from '../history/trail.ts'

export interface OwnParts {
  readonly sallyport: Sallyport
  readonly history: History
  readonly policies: PolicyReader
  readonly trail: Trail
  /** When the console was opened, in milliseconds since the epoch. */
  readonly since: number
  /** Identifies this process within its cluster. */
  readonly id: string
}

/** A part of an answer of which each process in a cluster knows its share; question and share travel as JSON. */
export interface Share<Question, Own> {
  readonly name: string
  own(question: Question, parts: OwnParts): Own | Promise<Own>
}

/** Asks this process and the others; `silent` counts processes that gave no answer in time. Rejects where this process does. */
export type Gather = <Question, Own>(
  share: Share<Question, Own>,
  question: Question,
) => Promise<{ readonly shares: readonly [Own, ...Own[]]; readonly silent: number }>

/** Asks the other processes about a name; counts those that did not answer in time. */
export type AskOthers = (about: { readonly name: string; readonly question: unknown }) => Promise<{
  readonly answers: readonly unknown[]
  readonly silent: number
}>

export function createGather(parts: OwnParts, askOthers: AskOthers | undefined): Gather {
  return async <Question, Own>({ name, own }: Share<Question, Own>, question: Question) => {
    const answer = askOthers?.({ name, question })
    parts.sallyport.drain()
    const mine = await own(question, parts)
    const { answers = [], silent = 0 } = (await answer) ?? {}
    return { shares: [mine, ...(answers as readonly Own[])], silent }
  }
}

/** Takes the newest rows of several processes, the newest first. */
export function takeNewest<Row extends { readonly at: number }>(
  lists: readonly (readonly Row[])[],
  limit: number,
): readonly Row[] {
  return lists
    .flat()
    .sort((x, y) => y.at - x.at)
    .slice(0, limit)
}
