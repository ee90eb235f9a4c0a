import { healthRows } from './health.ts'
import { liveRows } from './live.ts'
import type { Row } from './route.ts'
import { SESSION_ROWS } from './session.ts'

/** All that the console's API answers. */
export function consoleRows(): readonly Row[] {
  return [...SESSION_ROWS, ...liveRows(), ...healthRows()]
}
