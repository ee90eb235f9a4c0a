import { median, quantile } from './statistics.ts'

/** The middle of several runs with its quartiles, or of few runs the lowest and the highest; one that was counted has no runs. */
export interface Spread {
  readonly median: number
  readonly low?: number | undefined
  readonly high?: number | undefined
  readonly runs?: number | undefined
}

/** Goal of a figure. `of: 'ratio'`: what its ratio should be. */
export interface Goal {
  readonly atMost?: number | undefined
  readonly atLeast?: number | undefined
  readonly of?: 'ratio' | undefined
}

export interface Figure {
  /** The row of the table, or on a curve the columns, that it belongs to. */
  readonly case: string
  /** The amount of work, on a curve. */
  readonly at?: number | undefined
  readonly what: string
  readonly unit: string
  readonly value: Spread
  /** How many times the peer's it is, in the same rounds. */
  readonly ratio?: Spread | undefined
  readonly peer?: string | undefined
  readonly goal?: Goal | undefined
}

export interface Table {
  readonly title: string
  /** Name of the amount that grows: this table is a curve. */
  readonly work?: string | undefined
  readonly figures: readonly Figure[]
}

export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly gigabytes: number
  readonly system: string
  readonly node: string
  readonly date: string
  readonly commit: string
  readonly size: 'full' | 'quick'
  /** The load average of the last minute when the bench began. */
  readonly load: number
  readonly seconds: number
  /** Other programs had the processors when it began: the figures are marked, and replace none. */
  readonly busy?: true | undefined
}

/** Holds all that one bench measured in one run, as a file in `results/`. */
export interface Results {
  readonly bench: string
  readonly machine: Machine
  readonly tables: readonly Table[]
  /** Figures that could not be measured here, and why. */
  readonly skipped: readonly string[]
}

/** Makes the figure of a row and a column. */
export function makeFigure(name: string, what: string, unit: string, value: Spread, goal?: Goal): Figure {
  return { case: name, what, unit, value, goal }
}

const FEW = 4

export function computeSpread(values: readonly number[]): Spread {
  const [low, high] = values.length < FEW ? [0, 1] : [0.25, 0.75]
  return { median: median(values), low: quantile(values, low), high: quantile(values, high), runs: values.length }
}

/** A number that is the same in every run. */
export function counted(value: number): Spread {
  return { median: value }
}

/** Reports whether a figure reaches its goal; undefined: it has none. */
export function isReached({ value, ratio, goal }: Figure): boolean | undefined {
  if (goal === undefined) return undefined
  const { median: reached } = goal.of === 'ratio' ? (ratio ?? value) : value
  return reached <= (goal.atMost ?? Number.POSITIVE_INFINITY) && reached >= (goal.atLeast ?? Number.NEGATIVE_INFINITY)
}
