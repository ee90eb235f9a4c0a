import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPEN_LICENCES, SOURCES, type SourceRow } from '@sallyport/data/sources'
import { feedsOf, openFeedStore } from '#datasets'
import { type ConfigInput, openUpdates } from '#open'
import { SHIPPED_INDEX, type ShippedSource } from '../src/datasets/sources/shipped.ts'

/** A snapshot's lists, and those that could not be had, with the reason. */
export interface MadeSnapshot {
  readonly sources: readonly ShippedSource[]
  readonly missing: readonly { readonly id: string; readonly reason: string }[]
}

/**
 * Whether a list may and should come with a release: everyone may pass it on, it is used without being asked for, and it is
 * worth having for longer than the way to an installation takes. Cities are too large.
 */
export function isShippable(row: SourceRow): boolean {
  const isLasting = row.networkClass !== 'residential_proxy' && row.refreshHours !== undefined
  return row.enabled && isLasting && row.kind !== 'city' && !row.fallback && mayBePassedOn(row)
}

/** Whether what its licence asks for can be put beside it; the text of Apache-2.0 is in the package. */
function mayBePassedOn({ licence, copyright }: SourceRow): boolean {
  if (licence === 'MIT') return copyright !== undefined
  return licence !== 'BSD-3-Clause' && OPEN_LICENCES.includes(licence)
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

/** Each list with its place, licence, credit and copyright line, and the text that MIT asks for. */
function noticeOf(rows: readonly SourceRow[]): string {
  const lines = rows.map(({ id, title, url, licence, credit, copyright }) =>
    [`${id}: ${title}`, url, `https://spdx.org/licenses/${licence}`, credit, copyright].filter(Boolean).join('\n  '),
  )
  return `The lists in this folder are their publishers', unchanged, under these licences.\n\n${lines.join('\n')}\n\nMIT:\n\n${MIT}`
}

/**
 * Downloads all lists that may come with a release, through the checks that every download passes, into a folder: each under
 * its id, beside an index. What cannot be had is left out and named; the folder is replaced. `settings` may name a mirror.
 */
export async function makeSnapshot(folder: string, settings: ConfigInput = {}): Promise<MadeSnapshot> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-snapshot-'))
  try {
    const unwanted = SOURCES.filter((row) => !isShippable(row)).map(({ id }) => [id, { enabled: false }] as const)
    const sources = Object.fromEntries(unwanted)
    const outcomes = await openUpdates({ ...settings, dataDir, data: { ...settings.data, sources } }).update()
    const store = openFeedStore(dataDir)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const made = feedsOf(sources).flatMap(({ row, url }): readonly ShippedSource[] => {
      const file = store.file(row.id, url)
      if (file === undefined) return []
      const to = join(folder, row.id)
      copyFileSync(file.path, to)
      const sha256 = createHash('sha256').update(readFileSync(to)).digest('hex')
      return [{ id: row.id, made: file.made ?? file.modified, size: file.size, sha256 }]
    })
    const ids = new Set(made.map(({ id }) => id))
    writeFileSync(join(folder, 'NOTICE'), noticeOf(SOURCES.filter(({ id }) => ids.has(id))))
    writeFileSync(join(folder, SHIPPED_INDEX), `${JSON.stringify(made, null, 2)}\n`)
    const missing = outcomes.flatMap((outcome) =>
      'reason' in outcome ? [{ id: outcome.source, reason: outcome.reason }] : [],
    )
    return { sources: made, missing }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
