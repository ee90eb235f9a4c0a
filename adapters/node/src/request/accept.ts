import { isNamed } from '@sallyport/core/host'

/** The form of an answer of ours: a page for people, plain text, or the JSON of programs. */
export type Form = 'page' | 'text' | 'json'

/**
 * The form in which a request is refused (RFC 9110 12.5.1): a page where HTML is accepted by name, whatever else is, and
 * plain text where that is liked no less than JSON. Browsers of people that accept anything, as NetSurf and Links do, get
 * a page too, unless a script or a picture waits for it; everybody else JSON. `isBrowser` is asked last: it looks
 * at the whole request.
 */
export function formOf(fields: readonly string[], isBrowser: () => boolean = () => false): Form {
  if (acceptsHtml(fields)) return 'page'
  const ranges = mediaRanges(valuesOf(fields, 'accept'))
  const html = likingOf(ranges, 'text/html')
  const text = likingOf(ranges, 'text/plain')
  const json = likingOf(ranges, 'application/json')
  const rather = json.named ? text.weight > json.weight : text.weight >= json.weight
  if (text.named && text.weight > 0 && rather) return 'text'
  if (html.weight > json.weight) return 'page'
  const open = html.weight > 0 && html.weight === json.weight && !json.named
  return open && isShown(fields) && isBrowser() ? 'page' : 'json'
}

/** Whether HTML is accepted by name. */
export function acceptsHtml(fields: readonly string[]): boolean {
  const { named, weight } = likingOf(mediaRanges(valuesOf(fields, 'accept')), 'text/html')
  return named && weight > 0
}

/**
 * Whether somebody may look at the answer: where it is for a script, a picture or a socket, browsers say so. A navigation that a
 * service worker of Firefox passes on has the mode of a script, and what only navigations ask for.
 */
export function isShown(fields: readonly string[]): boolean {
  const mode = valuesOf(fields, 'sec-fetch-mode')
  const by = valuesOf(fields, 'x-requested-with')
  const isPassedOn =
    mode === 'same-origin' && valuesOf(fields, 'upgrade-insecure-requests') === '1' && acceptsHtml(fields)
  return (
    (mode === '' || mode === 'navigate' || isPassedOn) && by !== 'xmlhttprequest' && valuesOf(fields, 'upgrade') === ''
  )
}

/** The values of a field as one list, in lower case; empty where there is none. */
export function valuesOf(fields: readonly string[], name: string): string {
  const values: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (isNamed(fields[at] as string, name)) values.push((fields[at + 1] as string).trim().toLowerCase())
  }
  return values.join(',')
}

interface MediaRange {
  readonly name: string
  readonly weight: number
}

/** The ranges of a list; without any everything is accepted. */
function mediaRanges(list: string): readonly MediaRange[] {
  const ranges = list.split(',').flatMap((range): readonly MediaRange[] => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    return name === '' ? [] : [{ name, weight: weightOf(parameters) }]
  })
  return ranges.length === 0 ? [{ name: '*/*', weight: 1 }] : ranges
}

/** From 0 to 1. A weight that is none is a range without one: it is not a refusal of it. */
function weightOf(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => parameter.startsWith('q='))
  const weight = written === undefined ? 1 : Number.parseFloat(written.slice(2))
  return weight >= 0 && weight <= 1 ? weight : 1
}

interface Liking {
  readonly weight: number
  /** It is written out, and not meant by `*`. */
  readonly named: boolean
}

/** The liking for a media type, as the most exact ranges that match it say. */
function likingOf(ranges: readonly MediaRange[], type: string): Liking {
  for (const pattern of [type, type.replace(/\/.*/, '/*'), '*/*']) {
    const weights = ranges.filter(({ name }) => name === pattern).map(({ weight }) => weight)
    if (weights.length > 0) return { weight: Math.max(...weights), named: pattern === type }
  }
  return { weight: 0, named: false }
}
