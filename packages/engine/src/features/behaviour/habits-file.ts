import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeptHabits } from '@sallyport/core'
import { z } from 'zod'
import { OWN_FILE } from '#files'

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

/** Replaces the file whole or not at all. After a power cut it may be an older one, which costs ten visits. */
export async function writeKeptHabits(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`
  await writeFile(temporary, text, { mode: OWN_FILE })
  await rename(temporary, file)
}
