import { isNamed } from '@sallyport/core/host'

/** Our answers take one of these forms: a page for people, plain text, or JSON for programs. */
export type Form = 'page' | 'text' | 'json'

/**
 * Chooses the form of a refusal (RFC 9110 12.5.1). Browsers that accept anything, such as NetSurf and Links, get a page, unless a script or
 * a picture waits for it. `isBrowser` runs last, because it looks at the whole request.
 */
export function chooseForm(fields: readonly string[], isBrowser: () => boolean = () => false): Form {
  if (acceptsHtml(fields)) return 'page'
  const ranges = mediaRanges(joinValues(fields, 'accept'))
  const html = rateType(ranges, 'text/html')
  const text = rateType(ranges, 'text/plain')
  const json = rateType(ranges, 'application/json')
  const rather = json.named ? text.weight > json.weight : text.weight >= json.weight
  if (text.named && text.weight > 0 && rather) return 'text'
  if (html.weight > json.weight) return 'page'
  const open = html.weight > 0 && html.weight === json.weight && !json.named
  return open && isShown(fields) && isBrowser() ? 'page' : 'json'
}

/** Reports whether the request accepts HTML by name. */
export function acceptsHtml(fields: readonly string[]): boolean {
  const { named, weight } = rateType(mediaRanges(joinValues(fields, 'accept')), 'text/html')
  return named && weight > 0
}

/**
 * Reports whether a person may see the answer: browsers mark requests of a script, a picture or a socket. Firefox gives a navigation that a
 * service worker passes on the mode of a script, but keeps a field that only navigations have.
 */
export function isShown(fields: readonly string[]): boolean {
  const mode = joinValues(fields, 'sec-fetch-mode')
  const by = joinValues(fields, 'x-requested-with')
  const isPassedOn =
    mode === 'same-origin' && joinValues(fields, 'upgrade-insecure-requests') === '1' && acceptsHtml(fields)
  return (
    (mode === '' || mode === 'navigate' || isPassedOn) &&
    by !== 'xmlhttprequest' &&
    joinValues(fields, 'upgrade') === ''
  )
}

/** Joins the values of a field as one list, in lower case; empty where the field is missing. */
export function joinValues(fields: readonly string[], name: string): string {
  const values: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (isNamed(fields[at] as string, name)) values.push((fields[at + 1] as string).trim().toLowerCase())
  }
  return values.join(',')
}

/** Lists the media ranges of a header; without any, everything is accepted. */
function mediaRanges(list: string) {
  const ranges = list.split(',').flatMap((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    return name === '' ? [] : [{ name, weight: readWeight(parameters) }]
  })
  return ranges.length === 0 ? [{ name: '*/*', weight: 1 }] : ranges
}

/** Reads a weight from 0 to 1. An invalid weight counts as 1, because it does not refuse the type. */
function readWeight(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => parameter.startsWith('q='))
  const weight = written === undefined ? 1 : Number.parseFloat(written.slice(2))
  return weight >= 0 && weight <= 1 ? weight : 1
}

/** Rates a media type by the most specific ranges that match it. `named`: they name the type itself, and not `*`. */
function rateType(ranges: ReturnType<typeof mediaRanges>, type: string) {
  for (const pattern of [type, type.replace(/\/.*/, '/*'), '*/*']) {
    const weights = ranges.filter(({ name }) => name === pattern).map(({ weight }) => weight)
    if (weights.length > 0) return { weight: Math.max(...weights), named: pattern === type }
  }
  return { weight: 0, named: false }
}
