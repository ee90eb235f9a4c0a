import {
  parseDictionary,
  parseItem,
  parseList,
  serializeDictionary,
  serializeItem,
  serializeList,
} from 'structured-headers'
import { attempt } from '../../attempt.ts'

/**
 * Returns the parameters of a target's query, decoded and encoded again, by their encoded names (RFC 9421 section 2.2.8). A parameter that
 * occurs twice is `undefined`, because no component can cover it.
 */
export function queryParameters(target: string): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>()
  const start = target.indexOf('?')
  if (start === -1) return found
  for (const [key, value] of new URLSearchParams(target.slice(start + 1))) {
    const name = encodeForm(key)
    found.set(name, found.has(name) ? undefined : encodeForm(value))
  }
  return found
}

/** Encodes by the percent-encode set of forms, with `%20` for a space. */
function encodeForm(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Maps structured fields to their form; the strict form of any other field is not known. */
const FORMS: Readonly<Record<string, keyof typeof WRITERS>> = {
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

const WRITERS = {
  dictionary: (value: string) => serializeDictionary(parseDictionary(value)),
  list: (value: string) => serializeList(parseList(value)),
  item: (value: string) => serializeItem(parseItem(value)),
}

/** Returns a structured field in its strict form (RFC 9421 section 2.1.1). */
export function strictForm(name: string, value: string): string | undefined {
  const form = name === 'signature-agent' && value.startsWith('"') ? 'item' : FORMS[name]
  return form && attempt(() => WRITERS[form](value))
}
