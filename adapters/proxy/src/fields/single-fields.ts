import { createSpellings } from './spellings.ts'

/** Fields that stand once in an answer: those that Node sends over HTTP/2 once only, and two more of RFC 9110. */
const SINGLE_FIELDS = [
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'server',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
]

/** A list, of which Node takes one field only: several are joined, which says the same (RFC 9110 5.3). */
const LIST = 'content-language'

const read = createSpellings(SINGLE_FIELDS)

/**
 * Fields (name, value, name, value …) in which what may stand once does: the first of equal ones (nginx and an application
 * often add the same), the last where they differ, and then `onConflict` is called with the name. Changes the list.
 */
export function onlyOnce(fields: string[], onConflict: (name: string) => void): string[] {
  const seen: string[] = []
  const places: number[] = []
  let to = 0
  for (let at = 0; at < fields.length; at += 2) {
    const [field, value] = [fields[at] as string, fields[at + 1] as string]
    const name = read(field)
    if (name !== undefined && field.toLowerCase() === name) {
      const known = seen.indexOf(name)
      if (known >= 0) {
        const place = (places[known] as number) + 1
        if (fields[place] === value) continue
        if (name !== LIST) onConflict(name)
        fields[place] = name === LIST ? `${fields[place]}, ${value}` : value
        continue
      }
      seen.push(name)
      places.push(to)
    }
    fields[to++] = field
    fields[to++] = value
  }
  fields.length = to
  return fields
}
