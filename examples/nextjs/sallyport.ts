import { open, type Sallyport } from 'sallyport'

const { DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

/** Next.js loads this file once for the proxy and once for the routes. */
const shared = globalThis as { sallyport?: Promise<Sallyport> | undefined }

/** Opened by the first request: a build loads the routes too. */
export function sallyport(): Promise<Sallyport> {
  shared.sallyport ??= open({
    dataDir: DATA_DIR,
    data: { refresh: REFRESH === 'true' },
    trustProxy: ['loopback'],
    policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
  })
  return shared.sallyport
}

/**
 * The server in front, which alone can reach this one and which is in trustProxy: Next.js does not say whose socket it is,
 * and the visitor is in the X-Forwarded-For of that server.
 */
export const FRONT = { address: '127.0.0.1' }
