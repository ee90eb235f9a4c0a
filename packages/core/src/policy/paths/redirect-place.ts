import { parseUrl } from '../../parse-url.ts'

/** Marks in `to` where the canonical path of a request goes. */
export const PATH_MARK = '{path}'

export type Place = NonNullable<ReturnType<typeof parsePlace>>

const WRITTEN = /^(?<host>https?:\/\/[^/?#{}\\@]+)?(?<path>(?:\/|\{path\})[!-~]*)$/

/**
 * Splits `to` into a host or nothing, and the text around the path of the request; `undefined` where it is neither a path nor an http URL.
 * `after` is absent where all requests are sent to one place.
 */
export function parsePlace(to: string) {
  const { host, path = '' } = WRITTEN.exec(to)?.groups ?? {}
  const [before = '', after, more] = path.split(PATH_MARK)
  const isOther = /^\/[/\\]/.test(path) || more !== undefined || /[{}\\]/.test(`${before}${after ?? ''}`)
  // A path begins with a slash: two of them begin a host.
  if (path === '' || isOther || (after !== undefined && before.endsWith('/'))) return undefined
  const url = host === undefined ? undefined : parseUrl(host)
  if (host !== undefined && url === undefined) return undefined
  return { host: url?.host, before: trimQuery(before), after: after && trimQuery(after) }
}

/** Removes query and fragment, which are no part of a compared path. */
function trimQuery(text: string): string {
  return text.split(/[?#]/, 1)[0] as string
}
