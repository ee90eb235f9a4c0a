/** Something with features, and what it is. */
export interface Example {
  readonly features: readonly string[]
  readonly is: boolean
}

/** Natural logarithms of odds: of anything, and what each feature adds. */
export interface Fit {
  readonly start: number
  readonly weights: ReadonlyMap<string, number>
}

const EPOCHS = 60
const RATE = 0.3
/** How much a weight is drawn to zero at each example that has its feature. */
const DECAY = 0.05

/** Computes a logistic regression in the same order at every run: adaptive steps, weights drawn to zero. */
export function fit(examples: readonly Example[]): Fit {
  const weights = new Map<string, number>()
  const squares = new Map<string, number>()
  let start = 0
  let startSquares = 0
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { features, is } of examples) {
      const odds = features.reduce((sum, feature) => sum + (weights.get(feature) ?? 0), start)
      const error = 1 / (1 + Math.exp(-odds)) - (is ? 1 : 0)
      startSquares += error ** 2
      start -= (RATE * error) / Math.sqrt(startSquares)
      for (const feature of features) {
        const weight = weights.get(feature) ?? 0
        const slope = error + DECAY * weight
        const square = (squares.get(feature) ?? 0) + slope ** 2
        squares.set(feature, square)
        weights.set(feature, weight - (RATE * slope) / Math.sqrt(square))
      }
    }
  }
  return { start, weights }
}

export function computeOdds({ start, weights }: Fit, features: readonly string[]): number {
  return features.reduce((sum, feature) => sum + (weights.get(feature) ?? 0), start)
}
