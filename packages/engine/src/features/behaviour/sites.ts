import type { Settings } from '#settings'

/**
 * Returns what finds the site of a host: the hosts that routes name are sites, and all others are one, ''. A client writes any host, and
 * would begin with norms of its own.
 */
export function createSites(routes: Settings['routes']): (host: string) => string {
  const names = routes.flatMap(({ host }) => (host === undefined ? [] : [host.toLowerCase()]))
  const exact = new Set(names)
  const wild = names.filter((name) => name.startsWith('*.'))
  return (host) => {
    if (names.length === 0) return ''
    const asked = host.toLowerCase().replace(/\.?(?::\d{0,5})?$/, '')
    return exact.has(asked) ? asked : (wild.find((name) => asked.endsWith(name.slice(1))) ?? '')
  }
}
