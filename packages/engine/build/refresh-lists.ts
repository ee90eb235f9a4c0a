import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SOURCES } from '@sallyport/data/sources'
import { openFeedStore, resolveFeeds } from '#datasets'
import { type ConfigInput, openUpdates } from '#open'
import { type KeptList, LISTS_INDEX, listsIn } from './lists.ts'
import { isShippable } from './shippable.ts'

/**
 * Downloads all lists that may come with a release and that no package brings, through the checks that every download passes,
 * into a folder: each under its id, beside an index. What cannot be had stays as it was and is named. `settings` may name a mirror.
 */
export async function refreshLists(folder: string, settings: ConfigInput = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-lists-'))
  try {
    const unwanted = SOURCES.filter((row) => !isShippable(row) || row.package !== undefined)
    const sources = Object.fromEntries(unwanted.map(({ id }) => [id, { enabled: false }] as const))
    const outcomes = await openUpdates({ ...settings, dataDir, data: { ...settings.data, sources } }).update()
    const store = openFeedStore(dataDir)
    const kept = new Map(listsIn(folder).map((list) => [list.id, list]))
    const fetched: string[] = []
    for (const { row, url } of resolveFeeds(sources)) {
      const file = store.file(row.id, url)
      if (file === undefined) continue
      mkdirSync(folder, { recursive: true })
      copyFileSync(file.path, join(folder, row.id))
      kept.set(row.id, { id: row.id, made: new Date(file.made ?? file.modified).toISOString() })
      fetched.push(row.id)
    }
    const index: readonly KeptList[] = SOURCES.flatMap(({ id }) => kept.get(id) ?? [])
    if (fetched.length > 0) writeFileSync(join(folder, LISTS_INDEX), `${JSON.stringify(index, null, 2)}\n`)
    const missing = outcomes.flatMap((outcome) =>
      'reason' in outcome ? [{ id: outcome.source, reason: outcome.reason }] : [],
    )
    return { fetched, missing }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
