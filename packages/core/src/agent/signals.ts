/**
 * Kind of a sign. `contradiction`: two statements of the request cannot both be true. `absence`: a field that such a browser sends is
 * missing; middleboxes, old devices and people's own settings remove one or two of these, programs most of them. `support`: a field is as
 * the browser sends it.
 */
export type SignalKind = 'contradiction' | 'absence' | 'support'

export interface Signal {
  readonly id: string
  readonly kind: SignalKind
  /** Part of the sum that `estimateBotProbability` reads, in natural log-odds. */
  readonly weight: number
  readonly text: string
  /**
   * Counts how many of the 669 requests of browsers and of the 161 of programs with a browser's user agent show it (`bench/accuracy/sets`,
   * straight from the client, with JA4). A second source fitted the weights: of 7,444 requests of Chrome 80 and later and 231 of Safari 17
   * and later none lacks Sec-Fetch headers.
   */
  readonly seen: { readonly browsers: number; readonly programs: number }
}

/**
 * Lists the signals of one request, each a bit of a number by its place in this list. The list is not ordered by strength. One
 * contradiction makes a program likely; one absence never does, but four absences are as certain.
 */
export const SIGNALS = [
  {
    id: 'chromium-version',
    kind: 'contradiction',
    weight: 3,
    text: 'The user agent and the client hints name different versions of Chromium.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'platform',
    kind: 'contradiction',
    weight: 2.5,
    text: 'The user agent and the client hints name different operating systems.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'foreign-hints',
    kind: 'contradiction',
    weight: 4,
    text: 'The request has client hints of Chromium, but its user agent names a browser that sends none.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'phone-hint',
    kind: 'contradiction',
    weight: 2.5,
    text: 'The user agent names a phone, but Sec-CH-UA-Mobile does not.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'partial-fetch-metadata',
    kind: 'contradiction',
    weight: 3.5,
    text: 'The request has Sec-Fetch-Mode without Sec-Fetch-Site and Sec-Fetch-Dest. Browsers send all three.',
    seen: { browsers: 0, programs: 5 },
  },
  {
    id: 'impossible-fetch-metadata',
    kind: 'contradiction',
    weight: 3.5,
    text: 'No browser sends this combination of Sec-Fetch headers.',
    seen: { browsers: 0, programs: 2 },
  },
  {
    id: 'document-accepts-anything',
    kind: 'contradiction',
    weight: 2.5,
    text: 'The request is a navigation with Accept: */*. Browsers request HTML in navigations.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'ja4-family',
    kind: 'contradiction',
    weight: 3.5,
    text: 'The TLS handshake (JA4) does not match the browser in the user agent.',
    seen: { browsers: 0, programs: 161 },
  },
  {
    id: 'h2-order',
    kind: 'contradiction',
    weight: 3,
    text: 'The order of the HTTP/2 pseudo-headers does not match the browser in the user agent.',
    seen: { browsers: 0, programs: 28 },
  },
  {
    id: 'h2-settings',
    kind: 'contradiction',
    weight: 2,
    text: 'The HTTP/2 settings do not match the browser in the user agent.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'ja4-inspected',
    kind: 'absence',
    weight: 1.5,
    text: 'The TLS handshake (JA4) does not match the browser, but its network may intercept TLS.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'no-client-hints',
    kind: 'absence',
    weight: 2,
    text: 'Sec-CH-UA is missing. Chromium sends it over https.',
    seen: { browsers: 56, programs: 115 },
  },
  {
    id: 'no-fetch-metadata',
    kind: 'absence',
    weight: 2,
    text: 'The Sec-Fetch headers are missing. This browser sends them with every request over https.',
    seen: { browsers: 6, programs: 110 },
  },
  {
    id: 'no-fetch-metadata-of-application',
    kind: 'absence',
    weight: 1,
    text: 'The Sec-Fetch headers are missing. An application with a web view may use its own HTTP library.',
    seen: { browsers: 3, programs: 0 },
  },
  {
    id: 'no-language',
    kind: 'absence',
    weight: 1,
    text: 'Accept-Language is missing or *.',
    seen: { browsers: 95, programs: 42 },
  },
  {
    id: 'accepts-anything',
    kind: 'absence',
    weight: 1,
    text: 'Accept is missing or */*, and no header shows that a page made the request.',
    seen: { browsers: 10, programs: 38 },
  },
  {
    id: 'no-compression',
    kind: 'absence',
    weight: 1.5,
    text: 'Accept-Encoding does not match this browser.',
    seen: { browsers: 9, programs: 61 },
  },
  {
    id: 'old-http',
    kind: 'absence',
    weight: 0.5,
    text: 'A modern browser that connects directly does not use HTTP/1.0.',
    seen: { browsers: 0, programs: 7 },
  },
  {
    id: 'field-names',
    kind: 'absence',
    weight: 0.5,
    text: 'The case or the order of the header names does not match this browser.',
    seen: { browsers: 7, programs: 75 },
  },
  {
    id: 'no-upgrade-wish',
    kind: 'absence',
    weight: 1,
    text: 'Upgrade-Insecure-Requests is missing. This browser sends it when it requests a page.',
    seen: { browsers: 0, programs: 91 },
  },
  {
    id: 'half-copied',
    kind: 'absence',
    weight: 1.5,
    text: 'The request has client hints without Sec-Fetch headers, or is a navigation without Upgrade-Insecure-Requests.',
    seen: { browsers: 0, programs: 44 },
  },
  {
    id: 'foreign-order',
    kind: 'absence',
    weight: 1,
    text: 'The Accept headers have the order of another browser engine.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'unknown-product',
    kind: 'absence',
    weight: 1,
    text: 'The user agent of a browser ends with an unknown product.',
    seen: { browsers: 15, programs: 0 },
  },
  {
    id: 'no-user-agent',
    kind: 'absence',
    weight: 6,
    text: 'User-Agent is missing.',
    seen: { browsers: 0, programs: 0 },
  },
  {
    id: 'hints-agree',
    kind: 'support',
    weight: -1,
    text: 'The client hints agree with the user agent.',
    seen: { browsers: 48, programs: 24 },
  },
  {
    id: 'fetch-metadata-agrees',
    kind: 'support',
    weight: -1,
    text: 'The Sec-Fetch headers are complete and consistent.',
    seen: { browsers: 529, programs: 22 },
  },
  {
    id: 'speaks-a-language',
    kind: 'support',
    weight: -0.5,
    text: 'Accept-Language names a language.',
    seen: { browsers: 539, programs: 119 },
  },
] as const satisfies readonly Signal[]

export type SignalId = (typeof SIGNALS)[number]['id']

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
