import { SallyportError } from '@sallyport/core'

export type Numbering = ReturnType<typeof createNumbering>

/** Numbers distinct texts from 1, in the order in which they come. `max` is the largest number that the column for it can hold. */
export function createNumbering(max: number) {
  const numbers = new Map<string, number>()
  return {
    /** Returns the number of a text; 0 for an empty or absent text. Throws `corrupt_data` for one text too many. */
    number(text = ''): number {
      if (text === '') return 0
      const known = numbers.get(text)
      if (known !== undefined) return known
      if (numbers.size === max) throw new SallyportError('corrupt_data', `there are more than ${max} different values`)
      numbers.set(text, numbers.size + 1)
      return numbers.size
    },
    /** Lists the texts by number; the first is number 1. */
    list: (): readonly string[] => [...numbers.keys()],
  }
}
