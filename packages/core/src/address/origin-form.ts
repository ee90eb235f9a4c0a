const SLASH = 47

/** Matches the scheme and authority before a path (RFC 9112 section 3.2.2). */
const SITE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Removes the site from a request target in absolute form; returns any other target unchanged. */
export function originForm(target: string): string {
  if (target.charCodeAt(0) === SLASH) return target
  const site = SITE.exec(target)
  if (site === null) return target
  const rest = target.slice(site[0].length)
  return rest.charCodeAt(0) === SLASH ? rest : `/${rest}`
}
