const ORIGIN = /^https?:\/\/[^/?#]*/i

/**
 * Returns the rest of a request target under a mount: `mountedPath('/detect/v1/myip?x=1', '/detect')` is `/v1/myip?x=1`, and `undefined`
 * for a target outside it. It drops the origin of a target in absolute form. `base` is a path without a trailing slash; '' is the root.
 */
export function mountedPath(target: string, base = ''): string | undefined {
  const path = target.replace(ORIGIN, '')
  if (!path.startsWith(base)) return undefined
  const rest = path.slice(base.length)
  return rest === '' || /^[/?#]/.test(rest) ? rest : undefined
}

/** Removes slashes from the end of a configured base. */
export function trimBase(configured = ''): string {
  return configured.replace(/\/+$/, '')
}

/** Splits a request target into path and query; a fragment, which no client should send, belongs to neither. */
export function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const [whole = ''] = target.split('#', 1)
  const mark = whole.indexOf('?')
  if (mark < 0) return { path: whole, query: new URLSearchParams() }
  return { path: whole.slice(0, mark), query: new URLSearchParams(whole.slice(mark + 1)) }
}
