import { isReserved } from '@sallyport/node'
import { nominated } from './prechecks.ts'

const HOP = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'proxy-connection'])

/**
 * The fields of an origin's answer for the client, name, value, name, value …: all but hop-by-hop fields, those that
 * its Connection field names, and our own, which are between us and the origin. Takes raw bytes; a field value is Latin-1 (RFC 9110 5.5).
 */
export function responseFields(raw: readonly (Buffer | string)[]): string[] {
  const fields = raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')))
  const named = new Set<string>()
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i]?.toLowerCase() === 'connection')
      for (const name of nominated([fields[i + 1] as string])) named.add(name)
  }
  const kept: string[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const lower = (fields[i] as string).toLowerCase()
    if (!HOP.has(lower) && !named.has(lower) && !isReserved(lower))
      kept.push(fields[i] as string, fields[i + 1] as string)
  }
  return kept
}
