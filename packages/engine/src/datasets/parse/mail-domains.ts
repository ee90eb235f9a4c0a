import { SallyportError } from '@sallyport/core'
import { PUBLIC_MAIL } from '@sallyport/data/public-services'
import type { SourceRow } from '@sallyport/data/sources'
import { contentLines } from './formats.ts'
import { requireMostlyGood } from './lines.ts'

const DOMAIN = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/

/**
 * Reads a list of domains, one a line, without those that its row excepts. Throws `corrupt_data` naming the file for another text, and for
 * one that holds a provider of most people's mail.
 */
export function readMailDomains(
  { except = [] }: Pick<SourceRow, 'except'>,
  { bytes, path }: { readonly bytes: Buffer; readonly path: string },
): ReadonlySet<string> {
  const domains = new Set<string>()
  let bad = 0
  for (const line of contentLines(bytes)) {
    const domain = line.toLowerCase()
    if (DOMAIN.test(domain)) domains.add(domain)
    else bad++
  }
  requireMostlyGood({ good: domains.size, bad }, path)
  const known = PUBLIC_MAIL.find((domain) => domains.has(domain))
  if (known !== undefined) throw new SallyportError('corrupt_data', `${path}: ${known} is a permanent email provider`)
  for (const domain of except) domains.delete(domain)
  return domains
}
