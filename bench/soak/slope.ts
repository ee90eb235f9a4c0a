/** How something changes with time: its slope, and the bounds within which it is with 95 % confidence. */
export interface Slope {
  readonly slope: number
  readonly low: number
  readonly high: number
  readonly mean: number
}

/** Quantiles of Student's t for 97.5 %, by degrees of freedom; beyond these they are near the quantile of the normal distribution. */
const T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1]

/**
 * Least squares. One sample resembles the one before it, so that there is less to learn from many of them than from as many that are
 * independent: the bounds are widened by the correlation of neighbours.
 */
export function fitSlope(points: readonly (readonly [time: number, value: number])[]): Slope {
  const count = points.length
  const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const time = average(points.map(([at]) => at))
  const mean = average(points.map(([, value]) => value))
  const spread = points.reduce((sum, [at]) => sum + (at - time) ** 2, 0)
  const slope = points.reduce((sum, [at, value]) => sum + (at - time) * (value - mean), 0) / spread
  const residuals = points.map(([at, value]) => value - mean - slope * (at - time))
  const squares = residuals.reduce((sum, residual) => sum + residual ** 2, 0)
  const neighbours = residuals.reduce((sum, residual, index) => sum + residual * (residuals[index - 1] ?? 0), 0)
  const alike = squares === 0 ? 0 : Math.min(0.9, Math.max(0, neighbours / squares))
  const independent = Math.max(3, (count * (1 - alike)) / (1 + alike))
  const error = Math.sqrt(squares / (count - 2) / spread) * Math.sqrt(count / independent)
  const quantile = T[Math.floor(independent) - 3] ?? 2.05
  return { slope, mean, low: slope - quantile * error, high: slope + quantile * error }
}
