import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Counts } from '@sallyport/core'
import { clientTasks, createMemoryCounts, openCounts } from '@sallyport/engine'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { scratch } from './scratch.ts'

const KEYS = numberFlag('keys', 2_000_000)
const LIMIT = { name: 'KEYS', max: 60, windowMs: 3_600_000 }
const MAX_GROWTH_MB = 200

/** Two million clients come once each while one is exhausted: memory and disk stay bounded and it stays exhausted. */
export async function faultKeys(): Promise<Measured> {
  return scratch(async (folder) => {
    const rows: Record<string, object> = {}
    const broken: string[] = []
    const flood = async (name: string, counts: Pick<Counts, 'take'>, file?: string) => {
      const take = async (client: string) =>
        (await counts.take(clientTasks(LIMIT, { narrow: client }, 1), '')).states[0]?.allowed === true
      for (let call = 0; call < LIMIT.max; call++) await take('exhausted')
      globalThis.gc?.()
      const before = process.memoryUsage().rss
      const start = performance.now()
      let most = before
      for (let key = 0; key < KEYS; key++) {
        await take(`2001:db8:${(key >> 16).toString(16)}:${(key & 65_535).toString(16)}::/64`)
        if (key % 50_000 !== 0) continue
        // Garbage does not count as held.
        globalThis.gc?.()
        most = Math.max(most, process.memoryUsage().rss)
      }
      const allowed = await take('exhausted')
      const growth = (most - before) / 1e6
      rows[name] = {
        'MB more': Math.round(growth),
        'MB on the disk': file === undefined ? 0 : Math.round((await stat(file)).size / 1e6),
        'µs a call': Number((((performance.now() - start) * 1000) / KEYS).toFixed(1)),
        'stays exhausted': !allowed,
      }
      if (allowed) broken.push(`${name}: an exhausted key was let in again`)
      return growth
    }
    const inMemory = await flood('memory', createMemoryCounts())
    if (inMemory > MAX_GROWTH_MB) broken.push('memory: not bounded')
    const path = join(folder, 'counts.db')
    const sqlite = await openCounts(`sqlite:${path}`)
    const inFile = await flood('SQLite', sqlite, path)
    if (inFile > MAX_GROWTH_MB) broken.push('SQLite: memory is not bounded')
    await sqlite.close()
    console.log(`\n${KEYS} clients, one call each`)
    console.table(rows)
    const measured = `${KEYS} clients: ${Math.round(inMemory)} MB more in memory, ${Math.round(inFile)} MB beside SQLite; ${broken.length === 0 ? 'who is exhausted stays so' : ''}`
    return { measured, broken }
  })
}
