import { HOUR_MS } from '@sallyport/core'

/** Milliseconds of each unit of a duration as Go writes it. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
}

const PART = /(\d{1,15}(?:\.\d{0,15})?)(ns|us|µs|μs|ms|s|m|h)/gy

/** Milliseconds of a duration as Go writes it (`3h59m2.5s`, `-5s`); `undefined` for anything else. */
export function parseGoDuration(text: string): number | undefined {
  const unsigned = text.replace(/^[+-]/, '')
  let total = 0
  let end = 0
  for (const [part, amount, unit = ''] of unsigned.matchAll(PART)) {
    total += Number(amount) * (UNITS[unit] as number)
    end += part.length
  }
  if (end !== unsigned.length || end === 0) return unsigned === '0' ? 0 : undefined
  return text.startsWith('-') ? -total : total
}
