import { foldCase } from './path-readings.ts'

/** A canonical path that is folded and split at most once, however many patterns look at it. */
export class SplitPath {
  readonly text: string
  #folded: string | undefined
  #whole: string | undefined
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

  /** Returns the path as a literal pattern is compared with it: unless `exact`, case and a trailing slash are set aside. */
  whole(exact: boolean): string {
    if (exact) return this.text
    this.#whole ??= withoutSlash(this.folded())
    return this.#whole
  }

  /** Returns the segments between slashes, without empty ones; `exact`: in the case that was sent. */
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

/** The paths that one request may be for. */
export interface SplitRequest {
  readonly path: SplitPath
  /** As in `RequestPath`. */
  readonly readings: readonly SplitPath[] | undefined
}
