/** Words of the gate as people read them. */
const WORDS: Readonly<Record<string, string>> = {
  allow: 'allowed',
  flag: 'flagged',
  redirect: 'redirected',
  challenge: 'challenged',
  offer: 'offered',
  throttle: 'throttled',
  block: 'blocked',
  unshown: 'challenge not shown',
  api: 'API',
  human: 'people',
  ai_agent: 'AI agents',
  verified_crawler: 'verified crawlers',
  impostor: 'impostors',
  unverified_bot: 'unverified bots',
  residential_clean: 'home lines',
  vpn: 'VPN',
  residential_proxy: 'residential proxies',
  tor: 'Tor',
  isp: 'ISP',
}

export function word(name: string): string {
  return WORDS[name] ?? name.replaceAll('_', ' ')
}

/** Writes a word of a report with a capital letter, to begin a line. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const NUMBERS = new Intl.NumberFormat('en')
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function count(number: number): string {
  return NUMBERS.format(number)
}

export function shortCount(number: number): string {
  return number < 10_000 ? NUMBERS.format(number) : COMPACT.format(number)
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return '0%'
  const share = (part / whole) * 100
  return share > 0 && share < 1 ? '<1%' : `${Math.round(share)}%`
}

/** Formats a share from 0 to 1 as `1.2%`; a share above 0 never reads as 0. */
export function exactPercent(share: number): string {
  if (share > 0 && share < 0.001) return '<0.1%'
  return `${(share * 100).toFixed(share > 0 && share < 0.995 ? 1 : 0)}%`
}

/** Writes `+12%`, `new`, or nothing where both counts are 0. */
export function trend(now: number, before: number): string {
  if (before === 0) return now === 0 ? '' : 'new'
  const change = Math.round((now / before - 1) * 100)
  return `${change > 0 ? '+' : ''}${change}%`
}

/** Writes an age of some seconds, such as `3 h`. */
export function age(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  if (seconds < 129_600) return `${Math.round(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} days`
}

export function moment(at: number | string): string {
  return new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

export function country(code: string): string {
  try {
    return COUNTRIES.of(code) ?? code
  } catch {
    return code
  }
}

/** Limits a text in a cell of a table, in characters. */
const MAX_CELL = 160

/** Shortens a client's text for a cell; the view of the request shows all of it. */
export function clipped(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= MAX_CELL) return text
  return `${text.slice(0, MAX_CELL)}… (${count(text.length)} characters)`
}
