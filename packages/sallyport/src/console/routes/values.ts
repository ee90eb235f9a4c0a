import { isRecord, SallyportError } from '@sallyport/core'

/** Parses a whole number from 1; an unreadable number becomes the initial one. */
export function parseNumber(
  given: string | undefined,
  { initial, most }: Readonly<Record<'initial' | 'most', number>>,
) {
  const number = given !== undefined && /^\d{1,6}$/.test(given) ? Number(given) : initial
  return Math.min(Math.max(1, number), most)
}

/** Parses the name of one of the spans. */
export function parseSpan<Span extends string>(
  spans: Readonly<Record<Span, unknown>>,
  given: string | undefined,
  initial: NoInfer<Span>,
): Span {
  const span = Object.keys(spans).find((name) => name === (given ?? initial))
  if (span === undefined)
    throw new SallyportError('invalid_request', `span: must be one of ${Object.keys(spans).join(', ')}`)
  return span as Span
}

/** Parses a body, which must be a map of texts. */
export function parseTexts(body: unknown): Readonly<Record<string, string>> {
  if (isRecord(body) && isTexts(body)) return body
  throw new SallyportError('invalid_request', 'The body must be a map of texts.')
}

function isTexts(map: Readonly<Record<string, unknown>>): map is Readonly<Record<string, string>> {
  return Object.values(map).every((value) => typeof value === 'string')
}

/** Returns a text that a row needs. */
export function requireText(text: string | undefined, name: string): string {
  if (text === undefined) throw new SallyportError('invalid_request', `${name}: is missing`)
  return text
}
