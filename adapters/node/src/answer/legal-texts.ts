/** Titles of a page that a law blocks for a visitor (RFC 7725), by the languages of `REFUSAL_TEXTS`. */
export const LEGAL_TITLES: Readonly<Record<string, string>> = {
  en: 'Not available for legal reasons',
  de: 'Aus rechtlichen Gründen nicht verfügbar',
  fr: 'Indisponible pour des raisons juridiques',
  es: 'No disponible por motivos legales',
  it: 'Non disponibile per motivi legali',
  nl: 'Niet beschikbaar om juridische redenen',
  pt: 'Indisponível por motivos legais',
  pl: 'Niedostępne z przyczyn prawnych',
  tr: 'Yasal nedenlerle kullanılamıyor',
  ru: 'Недоступно по юридическим причинам',
  uk: 'Недоступно з юридичних причин',
  ar: 'غير متاح لأسباب قانونية',
  ja: '法的な理由により表示できません',
  ko: '법적인 이유로 제공할 수 없습니다',
  zh: '因法律原因无法访问',
  'zh-Hant': '因法律原因無法存取',
}
