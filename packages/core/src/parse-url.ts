import { attempt } from './attempt.ts'

/**
 * Returns the URL that a text writes (WHATWG), or `undefined`. Once V8 has compiled it, `URL.canParse` of Node 20 and 22 refuses every text
 * with letters of Latin-1 beyond ASCII, so texts of clients and of other servers are never asked with it.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  return attempt(() => new URL(text, base))
}
