export type GrowingColumn = ReturnType<typeof createGrowingColumn>

/** Creates a column of 32-bit words that grows while it is written. */
export function createGrowingColumn(capacity = 16) {
  let words = new Uint32Array(Math.max(capacity, 16))
  let length = 0
  return {
    get length() {
      return length
    },
    push(word: number): void {
      if (length === words.length) {
        const larger = new Uint32Array(words.length * 2)
        larger.set(words)
        words = larger
      }
      words[length++] = word
    },
    /** Returns the words without a copy; no write may follow. */
    finish: (): Uint32Array => words.subarray(0, length),
  }
}
