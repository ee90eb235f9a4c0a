import { HOUR_MS } from '@sallyport/core'

/** Writes `1,204`. */
export function number(value: number): string {
  return value.toLocaleString('en-US')
}

/** Formats a share from 0 to 1 as `1.2%`; a share above 0 never reads as 0. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return '<0.1%'
  return `${(share * 100).toFixed(share > 0 && share < 0.995 ? 1 : 0)}%`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Writes `1.2 MB`. */
export function size(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** unit
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

/** Writes `2026-11-26 12:00`, from ISO 8601. */
export function moment(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ')
}

/** Writes `7 days` or `24 hours`. */
export function span(from: string, until: string): string {
  const hours = Math.round((Date.parse(until) - Date.parse(from)) / HOUR_MS)
  if (hours > 48) return `${Math.round(hours / 24)} days`
  return hours === 1 ? 'an hour' : `${hours} hours`
}

/** Writes `+12%`, `new`, or nothing where both counts are 0. */
export function trend(now: number, before: number): string {
  if (before === 0) return now === 0 ? '' : 'new'
  const change = Math.round((now / before - 1) * 100)
  return `${change > 0 ? '+' : ''}${change}%`
}
