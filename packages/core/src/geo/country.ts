import { lazily } from '../lazily.ts'

const english = lazily(() => new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }))

/** Codes that ICU names but no country has: 'ZZ' is "Unknown Region". */
const NOT_A_COUNTRY = new Set(['ZZ', 'XA', 'XB', 'QO'])

/** English name of a country by its two-letter code (ISO 3166-1); `undefined` for anything that is not one. */
export function countryName(code: string): string | undefined {
  if (!isCountryCode(code) || NOT_A_COUNTRY.has(code)) return undefined
  return english().of(code)
}

/**
 * Codes that ICU names and ISO 3166-1 does not assign: unions, reserved parts of countries, and former countries. No data
 * has them, so a rule or a claim that names one would never match: `UK` is `GB`.
 */
const NOT_ASSIGNED = new Set('AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH RH SU TA TP UK UN VD YD YU ZR'.split(' '))

/** Whether a text is the code of a country that is one now (ISO 3166-1, and `XK`, as Kosovo has no other). */
export function isCountry(code: string): boolean {
  return !NOT_ASSIGNED.has(code) && countryName(code) !== undefined
}

/** Whether a text has the form of a country code: two capital letters. */
function isCountryCode(text: string): boolean {
  return text.length === 2 && isCapital(text.charCodeAt(0)) && isCapital(text.charCodeAt(1))
}

function isCapital(code: number): boolean {
  return code >= 65 && code <= 90
}
