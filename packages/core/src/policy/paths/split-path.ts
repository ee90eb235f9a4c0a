import { foldCase } from './path-readings.ts'

/** Folds and splits a canonical path at most once, however many patterns read it. */
export class SplitPath {
  readonly text: string
  #folded: string | undefined
  #whole: string | undefined
  #exactSegments: readonly string[] | undefined
  #foldedSegments: readonly string[] | undefined

  constructor(text: string) {
    this.text = text
  }

  folded(): string {
    this.#folded ??= foldCase(this.text)
    return this.#folded
  }

  /** Returns the path as literal patterns compare it: unless `exact`, it ignores case and a trailing slash. */
  whole(exact: boolean): string {
    if (exact) return this.text
    this.#whole ??= withoutSlash(this.folded())
    return this.#whole
  }

  /** Returns the segments between slashes, without empty ones; `exact` keeps the case as sent. */
  segments(exact: boolean): readonly string[] {
    if (exact) {
      this.#exactSegments ??= splitSegments(this.text)
      return this.#exactSegments
    }
    this.#foldedSegments ??= splitSegments(this.folded())
    return this.#foldedSegments
  }
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

export function splitSegments(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '')
}

export interface SplitRequest {
  readonly path: SplitPath
  /** `undefined` and an empty list are as in `RequestPath`. */
  readonly readings: readonly SplitPath[] | undefined
}
