/**
 * Writes a fault as text. An error with a code, or one that a library threw, is an outside failure and takes one line, after what failed
 * because of it; any other error is a bug and shows its stack.
 */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error) return `${error.message} (${error.code})`
  if (error.cause !== undefined) return `${error.message.replace(/\.$/, '')}: ${faultText(error.cause)}`
  const [, thrownAt = ''] = error.stack?.split('\n    at ') ?? []
  return LIBRARY.test(thrownAt) ? error.message : (error.stack ?? error.message)
}

const LIBRARY = /[\\/]node_modules[\\/](?!@?sallyport[\\/])/

export function throttled(report: (error: unknown) => void): (error: unknown) => void {
  let last = { text: '', at: Number.NEGATIVE_INFINITY }
  return (error) => {
    const now = performance.now()
    const text = String(error)
    if (text === last.text && now - last.at < 1_000) return
    last = { text, at: now }
    report(error)
  }
}
