import { PROBES, type ProbeRow } from '@sallyport/data/probes'
import type { RequestPath } from './path-readings.ts'
import { createPathTable } from './path-test.ts'

const ROWS = new Map(PROBES.map((row) => [row.path, row]))
const findPath = createPathTable([...ROWS.keys()])

export function findProbe(request: RequestPath): ProbeRow | undefined {
  const path = findPath(request)
  return path === undefined ? undefined : ROWS.get(path)
}
