import type { Sallyport } from '@sallyport/engine'
import { get } from './route.ts'

/** Finds the name of the site in the configuration, or else the address that the service listens on. */
function findSite({ routes, tls }: Sallyport['config'], url = ''): string {
  const [host] = routes?.flatMap(({ host = [] }) => host) ?? []
  return host ?? tls?.acme?.domains[0] ?? url.replace(/^https?:\/\//, '')
}

/** Tells the page which role the visitor has. */
export const SESSION_ROWS = [
  get('session', { role: 'anyone' }, ({ visitor }, { hooks, sallyport }) => ({
    role: visitor.role ?? null,
    by: visitor.by,
    until: visitor.until ?? null,
    maySave: hooks.savePolicy !== undefined,
    site: visitor.role === undefined ? null : findSite(sallyport.config, hooks.url?.()),
    url: visitor.role === undefined ? null : (hooks.url?.() ?? null),
  })),
]
