import { isRecord, SallyportError } from '@sallyport/core'
import type { Body } from './route.ts'

const MAX_TEXT = 2_048

/** Removes the space around a text of a query. */
export function trimText(given: string | null): string {
  return (given ?? '').trim().slice(0, MAX_TEXT)
}

/** Parses a whole number from 1; an unreadable number becomes the initial one. */
export function parseNumber(
  given: string | null,
  { initial, most }: { readonly initial: number; readonly most: number },
) {
  const number = given !== null && /^\d{1,6}$/.test(given) ? Number(given) : initial
  return Math.min(Math.max(1, number), most)
}

/** Returns a body that must be a map of keys. */
export function parseMap(body: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(body)) return body
  throw new SallyportError('invalid_request', 'The body must be a map of keys.')
}

/** Reads a text of a body; `undefined` where it is absent or empty. */
export function readMember<Name extends string>(body: Body<Name>, name: Name, most = MAX_TEXT): string | undefined {
  const value = body[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string' || value.length > most) {
    throw new SallyportError('invalid_request', `${name}: must be a text of at most ${most} characters`)
  }
  return value
}
