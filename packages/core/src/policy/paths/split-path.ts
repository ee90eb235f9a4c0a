import { foldCase } from './path-readings.ts'

/** A canonical path that is folded and split at most once, however many patterns look at it. */
export class SplitPath {
  readonly text: string
  #folded: string | undefined
  #exactSegments: readonly string[] | undefined
  #foldedSegments: readonly string[] | undefined

  constructor(text: string) {
    this.text = text
  }

  /** With its case set aside. */
  folded(): string {
    this.#folded ??= foldCase(this.text)
    return this.#folded
  }

  /** Returns the segments between slashes, without empty ones; `exact`: in the case that was sent. */
  segments(exact: boolean): readonly string[] {
    if (exact) {
      this.#exactSegments ??= segmentsOf(this.text)
      return this.#exactSegments
    }
    this.#foldedSegments ??= segmentsOf(this.folded())
    return this.#foldedSegments
  }
}

export function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '')
}

/** The paths that one request may be for. */
export interface SplitRequest {
  readonly path: SplitPath
  /** As in `RequestPath`. */
  readonly readings: readonly SplitPath[] | undefined
}

/** Splits the path of the request at hand, for all rules of a policy: they are asked one after the other. */
export type PathSplitter = (request: PathOfRequest) => SplitRequest

export interface PathOfRequest {
  readonly path: string
  readonly readings?: readonly string[] | undefined
}

/** `split` is another in tests, which count. */
export function createPathSplitter(split = (path: string) => new SplitPath(path)): PathSplitter {
  let last: { readonly of: PathOfRequest; readonly is: SplitRequest } | undefined
  return ({ path, readings }) => {
    if (last !== undefined && last.of.path === path && last.of.readings === readings) return last.is
    const is = { path: split(path), readings: readings?.map((reading) => split(reading)) }
    last = { of: { path, readings }, is }
    return is
  }
}
