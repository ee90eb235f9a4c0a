/** Beside our name of the parameter, nothing is in the wanted URL that it had not before. */
const AGAIN = 'sallyport-again=1'

/** Whether a target was come back to. */
export function isAgain(target: string): boolean {
  return target.endsWith(`?${AGAIN}`) || target.endsWith(`&${AGAIN}`)
}

/**
 * The wanted URL for a client that waits: it comes back with our parameter, by which a loop is seen. Relative, so that it
 * holds behind a server that takes a part of the path away, and names no other host however a path begins.
 */
export function again(target: string): string {
  const query = queryOf(withoutAgain(target))
  return `${query === '' ? '?' : `${query}&`}${AGAIN}`
}

/** The wanted URL without our parameter, as `again` relative to itself. */
export function clean(target: string): string {
  const wanted = withoutAgain(target)
  const [path = ''] = wanted.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)
  return `./${encoded(path.slice(path.lastIndexOf('/') + 1))}${queryOf(wanted)}`
}

function withoutAgain(target: string): string {
  return isAgain(target) ? target.slice(0, -AGAIN.length - 1) : target
}

function queryOf(target: string): string {
  const at = target.indexOf('?')
  return at === -1 ? '' : encoded(target.slice(at))
}

/** A page is UTF-8, and a target bytes: those beyond ASCII would be others. */
function encoded(text: string): string {
  return text.replace(/[^!-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
