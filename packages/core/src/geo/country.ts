import { lazily } from '../lazily.ts'

const english = lazily(() => new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }))

/** ICU names these codes but no country has them: 'ZZ' is "Unknown Region". */
const NOT_A_COUNTRY = new Set(['ZZ', 'XA', 'XB', 'QO'])

/** Returns the English name of a country by its two-letter code (ISO 3166-1); `undefined` for any other text. */
export function countryName(code: string): string | undefined {
  if (!/^[A-Z]{2}$/.test(code) || NOT_A_COUNTRY.has(code)) return undefined
  return english().of(code)
}

/**
 * ICU names these codes and ISO 3166-1 does not assign them: unions, reserved parts of countries, and former countries. No data has them,
 * so a rule or a claim that names one would never match: `UK` is `GB`.
 */
const NOT_ASSIGNED = new Set('AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH RH SU TA TP UK UN VD YD YU ZR'.split(' '))

/** Reports whether a text is the code of a current country (ISO 3166-1, and `XK`, as Kosovo has no other). */
export function isCountry(code: string): boolean {
  return !NOT_ASSIGNED.has(code) && countryName(code) !== undefined
}
