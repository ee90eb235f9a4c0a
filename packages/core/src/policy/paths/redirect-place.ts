/** Stands in `to` for the canonical path of a request. */
export const PATH_MARK = '{path}'

/** The parts of `to`: an origin or nothing, and the path around that of the request. */
export interface Place {
  readonly host: string | undefined
  readonly before: string
  /** Absent: one place for all requests. */
  readonly after: string | undefined
}

const WRITTEN = /^(?<host>https?:\/\/[^/?#{}\\@]+)?(?<path>(?:\/|\{path\})[!-~]*)$/

/** Parses `to`; `undefined` where it is neither a path nor an http URL. */
export function parsePlace(to: string): Place | undefined {
  const { host, path = '' } = WRITTEN.exec(to)?.groups ?? {}
  const [before = '', after, more] = path.split(PATH_MARK)
  const isOther = /^\/[/\\]/.test(path) || more !== undefined || /[{}\\]/.test(`${before}${after ?? ''}`)
  // A path begins with a slash: two of them begin a host.
  if (path === '' || isOther || (after !== undefined && before.endsWith('/'))) return undefined
  if (host !== undefined && !URL.canParse(host)) return undefined
  return { host: host && new URL(host).host, before: written(before), after: after && written(after) }
}

/** Without a query and a fragment, which are no part of a path that is compared. */
function written(text: string): string {
  return text.split(/[?#]/, 1)[0] as string
}
