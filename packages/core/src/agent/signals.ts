/** Describes a sign that a request shows; `weight` is its part of the sum that `estimateBotProbability` reads, in natural log-odds. */
export interface Signal {
  readonly id: string
  readonly kind: 'contradiction' | 'absence' | 'support'
  readonly weight: number
  readonly text: string
}

/*
 * `bench/test/evidence.long.test.ts` counts how many requests of browsers and of programs with a browser's user agent show each sign. A
 * second source fitted the weights: of 7,444 requests of Chrome 80 and later and 231 of Safari 17 and later none lacks Sec-Fetch headers.
 * One contradiction makes a program likely; one absence never does, but four absences are as certain. No list is ordered by strength.
 */

/** Two statements of the request cannot both be true. */
const CONTRADICTIONS = [
  {
    id: 'chromium-version',
    weight: 3,
    text: 'The user agent and the client hints name different versions of Chromium.',
  },
  { id: 'platform', weight: 2.5, text: 'The user agent and the client hints name different operating systems.' },
  {
    id: 'foreign-hints',
    weight: 4,
    text: 'The request has client hints of Chromium, but its user agent names a browser that sends none.',
  },
  { id: 'phone-hint', weight: 2.5, text: 'The user agent names a phone, but Sec-CH-UA-Mobile does not.' },
  {
    id: 'partial-fetch-metadata',
    weight: 3.5,
    text: 'The request has Sec-Fetch-Mode without Sec-Fetch-Site and Sec-Fetch-Dest. Browsers send all three.',
  },
  { id: 'impossible-fetch-metadata', weight: 3.5, text: 'No browser sends this combination of Sec-Fetch headers.' },
  {
    id: 'document-accepts-anything',
    weight: 2.5,
    text: 'The request is a navigation with Accept: */*. Browsers request HTML in navigations.',
  },
  { id: 'ja4-family', weight: 3.5, text: 'The TLS handshake (JA4) does not match the browser in the user agent.' },
  {
    id: 'h2-order',
    weight: 3,
    text: 'The order of the HTTP/2 pseudo-headers does not match the browser in the user agent.',
  },
  { id: 'h2-settings', weight: 2, text: 'The HTTP/2 settings do not match the browser in the user agent.' },
] as const

/** A field that such a browser sends is missing; middleboxes, old devices and people's settings remove one or two of these, programs most. */
const ABSENCES = [
  {
    id: 'ja4-inspected',
    weight: 1.5,
    text: 'The TLS handshake (JA4) does not match the browser, but its network may intercept TLS.',
  },
  { id: 'no-client-hints', weight: 2, text: 'Sec-CH-UA is missing. Chromium sends it over https.' },
  {
    id: 'no-fetch-metadata',
    weight: 2,
    text: 'The Sec-Fetch headers are missing. This browser sends them with every request over https.',
  },
  {
    id: 'no-fetch-metadata-of-application',
    weight: 1,
    text: 'The Sec-Fetch headers are missing. An application with a web view may use its own HTTP library.',
  },
  { id: 'no-language', weight: 1, text: 'Accept-Language is missing or *.' },
  {
    id: 'accepts-anything',
    weight: 1,
    text: 'Accept is missing or */*, and no header shows that a page made the request.',
  },
  { id: 'no-compression', weight: 1.5, text: 'Accept-Encoding does not match this browser.' },
  { id: 'old-http', weight: 0.5, text: 'A modern browser that connects directly does not use HTTP/1.0.' },
  { id: 'field-names', weight: 0.5, text: 'The case or the order of the header names does not match this browser.' },
  {
    id: 'no-upgrade-wish',
    weight: 1,
    text: 'Upgrade-Insecure-Requests is missing. This browser sends it when it requests a page.',
  },
  {
    id: 'half-copied',
    weight: 1.5,
    text: 'The request has client hints without Sec-Fetch headers, or is a navigation without Upgrade-Insecure-Requests.',
  },
  { id: 'foreign-order', weight: 1, text: 'The Accept headers have the order of another browser engine.' },
  { id: 'unknown-product', weight: 1, text: 'The user agent of a browser ends with an unknown product.' },
  { id: 'no-user-agent', weight: 6, text: 'User-Agent is missing.' },
] as const

/** A field is as the browser sends it. */
const SUPPORTS = [
  { id: 'hints-agree', weight: -1, text: 'The client hints agree with the user agent.' },
  { id: 'fetch-metadata-agrees', weight: -1, text: 'The Sec-Fetch headers are complete and consistent.' },
  { id: 'speaks-a-language', weight: -0.5, text: 'Accept-Language names a language.' },
] as const

export type SignalId = (typeof CONTRADICTIONS | typeof ABSENCES | typeof SUPPORTS)[number]['id']

/** Lists the signals of one request, each a bit of a number by its place in this list. */
export const SIGNALS: readonly (Signal & { readonly id: SignalId })[] = [
  ...CONTRADICTIONS.map((row) => ({ ...row, kind: 'contradiction' as const })),
  ...ABSENCES.map((row) => ({ ...row, kind: 'absence' as const })),
  ...SUPPORTS.map((row) => ({ ...row, kind: 'support' as const })),
]

/** Maps each signal to its bit. */
export const BIT = Object.fromEntries(SIGNALS.map(({ id }, place) => [id, 2 ** place])) as Readonly<
  Record<SignalId, number>
>

/** These bits are all signals against a browser. */
export const AGAINST = SIGNALS.reduce((bits, { id, weight }) => (weight > 0 ? bits | BIT[id] : bits), 0)

/** Lists the signals whose bits are set. */
export function listSignals(bits: number): readonly Signal[] {
  return SIGNALS.filter((_, place) => (bits & (1 << place)) !== 0)
}
