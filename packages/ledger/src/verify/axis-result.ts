/** The result of one axis. `not_provided`: the file, or the caller, gave nothing to check this by; it is neither good nor bad. */
export interface AxisResult {
  readonly outcome: 'pass' | 'fail' | 'not_provided'
  /** A sentence for people. */
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
