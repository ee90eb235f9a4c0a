import { isRecord, SallyportError } from '@sallyport/core'
import type { Body } from './route.ts'

const MAX_TEXT = 2_048

/** A text of a query, without what is around it. */
export function trimText(given: string | null): string {
  return (given ?? '').trim().slice(0, MAX_TEXT)
}

/** A whole number from 1 on; what cannot be read is the initial one. */
export function parseNumber(
  given: string | null,
  { initial, most }: { readonly initial: number; readonly most: number },
) {
  const number = given !== null && /^\d{1,6}$/.test(given) ? Number(given) : initial
  return Math.min(Math.max(1, number), most)
}

/** A body that is a map of keys. */
export function parseMap(body: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(body)) return body
  throw new SallyportError('invalid_request', 'The body must be a map of keys.')
}

/** A text of a body; absent where it is absent or empty. */
export function readMember<Name extends string>(body: Body<Name>, name: Name, most = MAX_TEXT): string | undefined {
  const value = body[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string' || value.length > most) {
    throw new SallyportError('invalid_request', `${name}: must be a text of at most ${most} characters`)
  }
  return value
}
