/** Takes the newest rows of several processes, the newest first. */
export function takeNewest<Row extends { readonly at: number }>(
  lists: readonly (readonly Row[])[],
  limit: number,
): readonly Row[] {
  return lists
    .flat()
    .sort((x, y) => y.at - x.at)
    .slice(0, limit)
}
