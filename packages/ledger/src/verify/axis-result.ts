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

/** Sums up the results of all checks; those that are missing were not made, because the form is not known. */
export function sumUp<Axis extends string>(
  axes: readonly Axis[],
  found: Readonly<Partial<Record<NoInfer<Axis> | 'authenticity', AxisResult>>>,
) {
  const unseen = notProvided('The check did not run, because the format is unknown.')
  const all = Object.fromEntries(axes.map((axis) => [axis, found[axis] ?? unseen])) as Record<Axis, AxisResult>
  const ok = axes.every((axis) => all[axis].outcome !== 'fail')
  return { ok, isProven: ok && found.authenticity?.outcome === 'pass', axes: all }
}
