import {
  type Parameters,
  parseDictionary,
  parseItem,
  parseList,
  serializeDictionary,
  serializeItem,
  serializeList,
} from 'structured-headers'

/** RFC 9421 section 2.2.8: one parameter, decoded and encoded again; one that is there twice is covered by nothing. */
export function queryParameter(target: string, parameters: Parameters): string | undefined {
  const name = parameters.get('name')
  const start = target.indexOf('?')
  if (parameters.size !== 1 || typeof name !== 'string' || start === -1) return undefined
  const same = [...new URLSearchParams(target.slice(start + 1))].filter(([key]) => formEncoded(key) === name)
  const [found, more] = same
  return found === undefined || more !== undefined ? undefined : formEncoded(found[1])
}

/** The percent-encode set of forms, with `%20` for a space. */
function formEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Structured fields by their form: of any other nobody knows what its strict form is. */
const FORMS: Readonly<Record<string, 'dictionary' | 'list' | 'item'>> = {
  'accept-signature': 'dictionary',
  'content-digest': 'dictionary',
  'repr-digest': 'dictionary',
  'want-content-digest': 'dictionary',
  'want-repr-digest': 'dictionary',
  priority: 'dictionary',
  signature: 'dictionary',
  'signature-agent': 'dictionary',
  'signature-input': 'dictionary',
  'sec-ch-ua': 'list',
  'sec-ch-ua-full-version-list': 'list',
  'sec-ch-ua-mobile': 'item',
  'sec-ch-ua-platform': 'item',
}

/** RFC 9421 section 2.1.1: a structured field as it would be written strictly. */
export function strictForm(name: string, value: string): string | undefined {
  const form = name === 'signature-agent' && value.startsWith('"') ? 'item' : FORMS[name]
  try {
    switch (form) {
      case 'dictionary':
        return serializeDictionary(parseDictionary(value))
      case 'list':
        return serializeList(parseList(value))
      case 'item':
        return serializeItem(parseItem(value))
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}
