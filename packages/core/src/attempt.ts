/** Returns the result of a call; `undefined` where it throws. */
export function attempt<Result>(call: () => Result): Result | undefined {
  try {
    return call()
  } catch {
    return undefined
  }
}
