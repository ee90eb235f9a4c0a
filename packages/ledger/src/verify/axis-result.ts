/** States the result of one check. `not_provided`: file and caller gave nothing to check; this is neither good nor bad. */
export interface AxisResult {
  readonly outcome: 'pass' | 'fail' | 'not_provided'
  /** Explains the outcome in one sentence. */
  readonly detail: string
}

export function passed(detail: string): AxisResult {
  return { outcome: 'pass', detail }
}

export function failed(detail: string): AxisResult {
  return { outcome: 'fail', detail }
}

export function notProvided(detail: string): AxisResult {
  return { outcome: 'not_provided', detail }
}

/** Completes the results of checks that were not made, because the form is not known. */
export function completeAxes<Axis extends string>(
  axes: readonly Axis[],
  found: Readonly<Partial<Record<Axis, AxisResult>>>,
): Readonly<Record<Axis, AxisResult>> {
  const unseen = notProvided('The check did not run, because the format is unknown.')
  return Object.fromEntries(axes.map((axis) => [axis, found[axis] ?? unseen])) as Record<Axis, AxisResult>
}
