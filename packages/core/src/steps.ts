/** Work in steps of a few milliseconds at most, between which others may have their turn. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Does all of it at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Items that one step handles. */
export const STEP = 4_096
