const SLASH = 47

/** A scheme and an authority before a path (RFC 9112 section 3.2.2). */
const SITE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** A request target without the site that its absolute form names; every other one as it is. */
export function originForm(target: string): string {
  if (target.charCodeAt(0) === SLASH) return target
  const site = SITE.exec(target)
  if (site === null) return target
  const rest = target.slice(site[0].length)
  return rest.charCodeAt(0) === SLASH ? rest : `/${rest}`
}
