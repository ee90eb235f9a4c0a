/** Rejects when there is no answer in time; a later one is dropped. `what` names the store. */
export async function within<T>(ms: number, answer: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The store of the ${what} did not answer in ${ms} ms.`)), ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
