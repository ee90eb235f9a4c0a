import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptHabits } from '@sallyport/core'
import { z } from 'zod'

const COUNT = z.number().min(0).max(1e6)
const KEPT = z.array(z.object({ host: z.string(), visits: COUNT, having: z.array(COUNT) }))

/** The file keeps what people do on each site, as counts: a start goes on from it, and `doctor` shows it. */
export function habitsFile(dataDir: string): string {
  return join(dataDir, 'behaviour.json')
}

/** Reads what was kept; nothing of a file that is absent, or that is not ours. */
export function readKeptHabits(file: string): readonly KeptHabits[] {
  try {
    return KEPT.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return []
  }
}
