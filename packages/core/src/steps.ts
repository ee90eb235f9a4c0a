/** Does work in steps of a few milliseconds at most, so that other work can run between them. */
export type Steps<Result> = Generator<undefined, Result, undefined>

export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Limits the items of one step. */
export const STEP = 4_096
