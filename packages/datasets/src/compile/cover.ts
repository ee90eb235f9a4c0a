/**
 * How many CIDR prefixes the minimal cover of a range has, as `coverRange` would give them, without making one: from
 * the bits of both ends, which are words of one family, most significant first, and in order.
 */
export function countCover(from: Uint32Array, to: Uint32Array): number {
  let top = 0
  while (top < from.length && from[top] === to[top]) top++
  if (top === from.length) return 1
  // The highest bit in which the ends differ parts the range into a left and a right half. A half that is not full is
  // a run of blocks, one for each bit of its length; two full halves are one block.
  const bit = 31 - Math.clz32((from[top] as number) ^ (to[top] as number))
  const left = countBlocks(from, top, bit, 1)
  const right = countBlocks(to, top, bit, 0)
  return left === 0 && right === 0 ? 1 : Math.max(left, 1) + Math.max(right, 1)
}

/**
 * The blocks of a half from its outer end, of which the bits below `bit` of word `top` count; 0 when it is full. From
 * the lowest bit up: the first one that is `edge` gives the smallest block, every later one that is not, one more.
 */
function countBlocks(end: Uint32Array, top: number, bit: number, edge: 0 | 1): number {
  let count = 0
  for (let index = end.length - 1; index >= top; index--) {
    const counted = index === top ? 2 ** bit - 1 : -1
    const word = end[index] as number
    const same = (edge === 1 ? word : ~word) & counted
    const others = ~same & counted
    if (count > 0) count += countBits(others)
    else if (same !== 0) count = 1 + countBits(others & ~(same ^ (same - 1)))
  }
  return count
}

/** How many bits of a word are set. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
