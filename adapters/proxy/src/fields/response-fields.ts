import { ID_HEADER, isReserved } from '@sallyport/node/internal'
import { HOP_FIELDS, madeHopByHop, withoutNamed } from './hop-fields.ts'
import { createSpellings } from './spellings.ts'

const hopField = createSpellings([...HOP_FIELDS, 'x-request-id'])

/**
 * The fields of an origin's answer for the client, name, value, name, value …: all but hop-by-hop fields, those that
 * its Connection field names, and our own, which are between us and the origin; then the request's id, and what is `told` that the origin does not tell
 * itself. Takes texts, or raw bytes; a field value is Latin-1 (RFC 9110 5.5).
 */
export function responseFields(
  raw: readonly string[] | readonly Buffer[],
  id: string,
  told: Readonly<Record<string, string>>,
): string[] {
  const fields = isText(raw) ? raw : textsOf(raw)
  const kept: string[] = []
  const named: string[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string
    const value = fields[i + 1] as string
    const hop = hopField(name)
    if (hop === undefined && !isReserved(name)) kept.push(name, value)
    else if (hop === 'connection') named.push(...madeHopByHop(value))
  }
  const fieldsOfClient = withoutNamed(kept, named)
  fieldsOfClient.push(ID_HEADER, id)
  for (const name in told) if (!hasField(fieldsOfClient, name)) fieldsOfClient.push(name, told[name] as string)
  return fieldsOfClient
}

function hasField(fields: readonly string[], name: string): boolean {
  for (let at = 0; at < fields.length; at += 2) if (fields[at]?.toLowerCase() === name) return true
  return false
}

function isText(raw: readonly string[] | readonly Buffer[]): raw is readonly string[] {
  return typeof raw[0] === 'string'
}

/** One conversion for all, because each costs as much as cutting five texts out of one. */
function textsOf(raw: readonly Buffer[]): readonly string[] {
  const text = Buffer.concat(raw).toString('latin1')
  let end = 0
  return raw.map(({ length }) => {
    end += length
    return text.slice(end - length, end)
  })
}
