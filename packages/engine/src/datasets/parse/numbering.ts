import { SallyportError } from '@sallyport/core'

/** Distinct texts, numbered from 1 in the order in which they come. */
export interface Numbering {
  /** 0 for the empty text and for none. Throws `corrupt_data` for one text too many. */
  number(text: string | undefined): number
  /** The texts by number; the first is number 1. */
  list(): readonly string[]
}

/** `max` is the largest number that the column for it can hold. */
export function createNumbering(max: number): Numbering {
  const numbers = new Map<string, number>()
  return {
    number(text = '') {
      if (text === '') return 0
      const known = numbers.get(text)
      if (known !== undefined) return known
      if (numbers.size === max) throw new SallyportError('corrupt_data', `more than ${max} different values`)
      numbers.set(text, numbers.size + 1)
      return numbers.size
    },
    list: () => [...numbers.keys()],
  }
}
