import type { SiteFinder } from '@sallyport/core'
import type { Settings } from '#settings'

/** Creates the finder of a host's site. Hosts of routes are sites; all others are one site, '', because a client writes any host. */
export function createSites(routes: Settings['routes']): SiteFinder | undefined {
  const names = routes.flatMap(({ host }) => (host === undefined ? [] : [host.toLowerCase()]))
  if (names.length === 0) return undefined
  const exact = new Set(names)
  const wild = names.filter((name) => name.startsWith('*.'))
  return (host) => {
    const site = host.toLowerCase().replace(/\.?(?::\d{0,5})?$/, '')
    return exact.has(site) ? site : (wild.find((name) => site.endsWith(name.slice(1))) ?? '')
  }
}
