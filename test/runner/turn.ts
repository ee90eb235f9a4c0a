/**
 * Returns the share of the long checks that this run of CI has: with `TURN=2/5` every fifth beginning with the second, else all.
 * A turn that is none throws.
 */
export function ofTurn<T>(values: readonly T[], turn = process.env['TURN'] ?? '1/1'): readonly T[] {
  const [, own = 0, turns = 0] = (/^(\d{1,2})\/(\d{1,2})$/.exec(turn) ?? []).map(Number)
  if (own === 0 || own > turns) throw new Error(`TURN=${turn} is none: 1/5 to 5/5, say`)
  return values.filter((_, index) => index % turns === own - 1)
}
