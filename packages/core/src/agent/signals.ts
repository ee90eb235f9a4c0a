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
const CONTRADICTIONS = {
  'chromium-version': [3, 'The user agent and the client hints name different versions of Chromium.'],
  platform: [2.5, 'The user agent and the client hints name different operating systems.'],
  'foreign-hints': [4, 'The request has client hints of Chromium, but its user agent names a browser that sends none.'],
  'phone-hint': [2.5, 'The user agent names a phone, but Sec-CH-UA-Mobile does not.'],
  'partial-fetch-metadata': [
    3.5,
    'The request has Sec-Fetch-Mode without Sec-Fetch-Site and Sec-Fetch-Dest. Browsers send all three.',
  ],
  'impossible-fetch-metadata': [3.5, 'No browser sends this combination of Sec-Fetch headers.'],
  'document-accepts-anything': [
    2.5,
    'The request is a navigation with Accept: */*. Browsers request HTML in navigations.',
  ],
  'ja4-family': [3.5, 'The TLS handshake (JA4) does not match the browser in the user agent.'],
  'h2-order': [3, 'The order of the HTTP/2 pseudo-headers does not match the browser in the user agent.'],
  'h2-settings': [2, 'The HTTP/2 settings do not match the browser in the user agent.'],
} as const

/** A field that such a browser sends is missing; middleboxes, old devices and people's settings remove one or two of these, programs most. */
const ABSENCES = {
  'ja4-inspected': [1.5, 'The TLS handshake (JA4) does not match the browser, but its network may intercept TLS.'],
  'no-client-hints': [2, 'Sec-CH-UA is missing. Chromium sends it over https.'],
  'no-fetch-metadata': [2, 'The Sec-Fetch headers are missing. This browser sends them with every request over https.'],
  'no-fetch-metadata-of-application': [
    1,
    'The Sec-Fetch headers are missing. An application with a web view may use its own HTTP library.',
  ],
  'no-language': [1, 'Accept-Language is missing or *.'],
  'accepts-anything': [1, 'Accept is missing or */*, and no header shows that a page made the request.'],
  'no-compression': [1.5, 'Accept-Encoding does not match this browser.'],
  'old-http': [0.5, 'A modern browser that connects directly does not use HTTP/1.0.'],
  'field-names': [0.5, 'The case or the order of the header names does not match this browser.'],
  'no-upgrade-wish': [1, 'Upgrade-Insecure-Requests is missing. This browser sends it when it requests a page.'],
  'half-copied': [
    1.5,
    'The request has client hints without Sec-Fetch headers, or is a navigation without Upgrade-Insecure-Requests.',
  ],
  'foreign-order': [1, 'The Accept headers have the order of another browser engine.'],
  'unknown-product': [1, 'The user agent of a browser ends with an unknown product.'],
  'no-user-agent': [6, 'User-Agent is missing.'],
} as const

/** A field is as the browser sends it. */
const SUPPORTS = {
  'hints-agree': [-1, 'The client hints agree with the user agent.'],
  'fetch-metadata-agrees': [-1, 'The Sec-Fetch headers are complete and consistent.'],
  'speaks-a-language': [-0.5, 'Accept-Language names a language.'],
} as const

export type SignalId = keyof typeof CONTRADICTIONS | keyof typeof ABSENCES | keyof typeof SUPPORTS

type SignalRows = Readonly<Record<string, readonly [weight: number, text: string]>>

/** Lists the signals of one request, each a bit of a number by its place in this list. */
export const SIGNALS: readonly (Signal & { readonly id: SignalId })[] = [
  ...listRows('contradiction', CONTRADICTIONS),
  ...listRows('absence', ABSENCES),
  ...listRows('support', SUPPORTS),
]

function listRows(kind: Signal['kind'], rows: SignalRows) {
  return Object.entries(rows).map(([id, [weight, text]]) => ({ id: id as SignalId, kind, weight, text }))
}

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
