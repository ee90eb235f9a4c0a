import { base64Bytes } from './note.ts'

/**
 * A fault in the form of something, in words that name the member. `verifyEvidence` throws it for keys alone.
 *
 * @example
 * ```ts
 * import { ShapeError, verifyEvidence } from '@sallyport/ledger/verify'
 *
 * try {
 *   verifyEvidence({}, { keys: 'none' })
 * } catch (error) {
 *   if (error instanceof ShapeError) console.error(error.message)
 * }
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc7517#section-5
 */
export class ShapeError extends Error {}

/** Reads the members of a JSON object one by one; every read throws ShapeError, which names the member. */
export interface Members {
  readonly path: string
  /** Returns the path of a member, as messages name it. */
  at(name: string): string
  /** Holds the object that is read. */
  readonly raw: unknown
  text(name: string): string
  /** Reads a text that matches this form. */
  textLike(name: string, form: RegExp): string
  /** Reads an integer from 0 to 2^53 - 1. */
  integer(name: string): number
  /** Reads standard base64 with its padding, of `length` bytes if given. */
  bytes(name: string, length?: number): Buffer
  /** Reads a list of base64 texts that have `length` bytes each. */
  bytesList(name: string, length: number): readonly Buffer[]
  boolean(name: string): boolean
  object(name: string): Members
  list(name: string): readonly unknown[]
  objects(name: string): readonly Members[]
  /** Reads a moment of the calendar in ISO 8601, UTC, with milliseconds. */
  moment(name: string): string
  has(name: string): boolean
  /** Throws if the object has a member of another name. */
  only(...names: readonly string[]): void
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** Reads an object of JSON. */
export function readMembers(value: unknown, path: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ShapeError(`${path}: not an object`)
  const object = value as Readonly<Record<string, unknown>>
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const own = (name: string) => (Object.hasOwn(object, name) ? object[name] : undefined)
  const members: Members = {
    path,
    at,
    raw: value,
    text(name) {
      const found = own(name)
      // A lone surrogate has no bytes, so no hashed text contains one.
      if (typeof found !== 'string' || /\p{Surrogate}/u.test(found)) throw new ShapeError(`${at(name)}: not a text`)
      return found
    },
    textLike(name, form) {
      const found = members.text(name)
      if (!form.test(found)) throw new ShapeError(`${at(name)}: not of the form ${form.source}`)
      return found
    },
    integer(name) {
      const found = own(name)
      if (typeof found !== 'number' || !Number.isSafeInteger(found) || found < 0) {
        throw new ShapeError(`${at(name)}: not an integer from 0 to 2^53 - 1`)
      }
      return found
    },
    bytes(name, length) {
      const found = base64Bytes(members.text(name), length)
      if (found === undefined) throw new ShapeError(`${at(name)}: not the base64 that is expected`)
      return found
    },
    bytesList: (name, length) =>
      members.list(name).map((entry, index) => readMembers({ [index]: entry }, at(name)).bytes(String(index), length)),
    boolean(name) {
      const found = own(name)
      if (typeof found !== 'boolean') throw new ShapeError(`${at(name)}: not true or false`)
      return found
    },
    object: (name) => readMembers(own(name), at(name)),
    list(name) {
      const found = own(name)
      if (!Array.isArray(found)) throw new ShapeError(`${at(name)}: not a list`)
      return found
    },
    objects: (name) => members.list(name).map((entry, index) => readMembers(entry, `${at(name)}.${index}`)),
    moment(name) {
      const found = members.textLike(name, MOMENT)
      const read = new Date(found)
      if (Number.isNaN(read.getTime()) || read.toISOString() !== found)
        throw new ShapeError(`${at(name)}: no such moment`)
      return found
    },
    has: (name) => own(name) !== undefined,
    only(...names) {
      const other = Object.keys(object).find((name) => !names.includes(name))
      if (other !== undefined) throw new ShapeError(`${at(other)}: not a member of this form`)
    },
  }
  return members
}

/** A record has three levels; without a bound the depth would reach that of the stack. */
const MAX_DEPTH = 32

/**
 * Writes the canonical text (RFC 8785) of objects, texts and integers, which records consist of. Throws ShapeError for anything else, so
 * that no reader of a record meets a number that languages write differently.
 */
export function canonicalRecord(value: unknown, depth = MAX_DEPTH): string {
  if (depth < 0) throw new ShapeError(`record: more than ${MAX_DEPTH} objects within each other`)
  if (typeof value === 'string') return canonicalString(value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ShapeError('record: holds something other than objects, texts and integers')
  }
  const object = value as Readonly<Record<string, unknown>>
  let text = ''
  for (const key of Object.keys(object).sort()) {
    text += `${text === '' ? '' : ','}${canonicalString(key)}:${canonicalRecord(object[key], depth - 1)}`
  }
  return `{${text}}`
}

/** RFC 8785 knows no lone surrogates; JSON.stringify would write their escapes. */
function canonicalString(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new ShapeError('record: holds a text that is not Unicode')
  return JSON.stringify(text)
}
