/** The parameter that marks a return; the URL of the page gains nothing else. */
const AGAIN = 'sallyport-again=1'

/** Reports whether a target carries our parameter. */
export function isAgain(target: string): boolean {
  return target.endsWith(`?${AGAIN}`) || target.endsWith(`&${AGAIN}`)
}

/**
 * Returns the wanted URL for a client that waits: it comes back with our parameter, which reveals a loop. The URL is relative, so that it
 * works behind a server that strips a part of the path, and names no other host however the path begins.
 */
export function again(target: string): string {
  const query = encodeQuery(cutAgain(target))
  return `${query === '' ? '?' : `${query}&`}${AGAIN}`
}

/** Returns the wanted URL without our parameter, relative to itself as in `again`. */
export function clean(target: string): string {
  const wanted = cutAgain(target)
  const [path = ''] = wanted.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)
  return `./${encodeBytes(path.slice(path.lastIndexOf('/') + 1))}${encodeQuery(wanted)}`
}

function cutAgain(target: string): string {
  return isAgain(target) ? target.slice(0, -AGAIN.length - 1) : target
}

function encodeQuery(target: string): string {
  const at = target.indexOf('?')
  return at === -1 ? '' : encodeBytes(target.slice(at))
}

/** Encodes the bytes beyond ASCII: a target holds bytes, and a page in UTF-8 would change them. */
function encodeBytes(text: string): string {
  return text.replace(/[^!-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
