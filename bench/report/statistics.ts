export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which this share of all lies, between two of them where it is between two. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((x, y) => x - y)
  const place = (sorted.length - 1) * share
  const [below, above] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN]
  return below + (above - below) * (place - Math.floor(place))
}
