const ENGLISH = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Codes that ICU names but no country has: 'ZZ' is "Unknown Region". */
const NOT_A_COUNTRY = new Set(['ZZ', 'XA', 'XB', 'QO'])

/** English name of a country by its two-letter code (ISO 3166-1); `undefined` for anything that is not one. */
export function countryName(code: string): string | undefined {
  if (!isCountryCode(code) || NOT_A_COUNTRY.has(code)) return undefined
  return ENGLISH.of(code)
}

/** Whether a text has the form of a country code: two capital letters. */
export function isCountryCode(text: string): boolean {
  return text.length === 2 && isCapital(text.charCodeAt(0)) && isCapital(text.charCodeAt(1))
}

function isCapital(code: number): boolean {
  return code >= 65 && code <= 90
}
