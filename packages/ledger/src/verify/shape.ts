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

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** Reads the members of a JSON object one by one; every read throws ShapeError, which names the member. */
export class Members {
  readonly path: string
  /** Holds the object that is read. */
  readonly raw: Readonly<Record<string, unknown>>
  readonly #known = new Set<string>()

  constructor(value: unknown, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new ShapeError(`${path}: not an object`)
    this.path = path
    this.raw = value as Readonly<Record<string, unknown>>
  }

  /** Returns the path of a member, as messages name it. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  #own(name: string): unknown {
    this.#known.add(name)
    return Object.hasOwn(this.raw, name) ? this.raw[name] : undefined
  }

  #fail(name: string, reason: string): never {
    throw new ShapeError(`${this.at(name)}: ${reason}`)
  }

  has(name: string): boolean {
    return this.#own(name) !== undefined
  }

  text(name: string): string {
    const found = this.#own(name)
    // A lone surrogate has no bytes, so no hashed text contains one.
    return typeof found === 'string' && !/\p{Surrogate}/u.test(found) ? found : this.#fail(name, 'not a text')
  }

  /** Reads a text that matches this form. */
  textLike(name: string, form: RegExp): string {
    const found = this.text(name)
    return form.test(found) ? found : this.#fail(name, `not of the form ${form.source}`)
  }

  /** Reads a moment of the calendar in ISO 8601, UTC, with milliseconds. */
  moment(name: string): string {
    const found = this.textLike(name, MOMENT)
    const read = new Date(found)
    const isSame = !Number.isNaN(read.getTime()) && read.toISOString() === found
    return isSame ? found : this.#fail(name, 'no such moment')
  }

  /** Reads an integer from 0 to 2^53 - 1. */
  integer(name: string): number {
    const found = this.#own(name)
    const isNatural = typeof found === 'number' && Number.isSafeInteger(found) && found >= 0
    return isNatural ? found : this.#fail(name, 'not an integer from 0 to 2^53 - 1')
  }

  boolean(name: string): boolean {
    const found = this.#own(name)
    return typeof found === 'boolean' ? found : this.#fail(name, 'not true or false')
  }

  /** Reads standard base64 with its padding, of `length` bytes if given. */
  bytes(name: string, length?: number): Buffer {
    return base64Bytes(this.text(name), length) ?? this.#fail(name, 'not the base64 that is expected')
  }

  object(name: string): Members {
    return new Members(this.#own(name), this.at(name))
  }

  list(name: string): readonly unknown[] {
    const found = this.#own(name)
    return Array.isArray(found) ? found : this.#fail(name, 'not a list')
  }

  objects(name: string): readonly Members[] {
    return this.list(name).map((entry, index) => new Members(entry, `${this.at(name)}.${index}`))
  }

  /** Reads a list of base64 texts that have `length` bytes each. */
  bytesList(name: string, length: number): readonly Buffer[] {
    const list = this.list(name)
    const members = new Members({ ...list }, this.at(name))
    return list.map((_, index) => members.bytes(String(index), length))
  }

  /** Returns `value` if each member of the object was read or looked for; throws for a member of another name. */
  complete<Value>(value: Value): Value {
    const other = Object.keys(this.raw).find((name) => !this.#known.has(name))
    return other === undefined ? value : this.#fail(other, 'not a member of this form')
  }
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
