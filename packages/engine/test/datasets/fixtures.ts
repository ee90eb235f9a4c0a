import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Address, address4, address6 } from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import type { Test } from 'tap'
import { compileTables, loadTables, type ResolvedSource, resolveSources } from '../../src/datasets/index.ts'

export function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'sallyport-datasets-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Resolved sources of which only these have a file, with these contents. */
export function writeSources(dir: string, files: Readonly<Record<string, string | Buffer>>): readonly ResolvedSource[] {
  const overrides = SOURCES.map(({ id }) => {
    const contents = files[id]
    if (contents === undefined) return [id, { enabled: false }]
    const path = join(dir, 'sources', id)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contents)
    return [id, { url: pathToFileURL(path).href }]
  })
  return resolveSources(Object.fromEntries(overrides))
}

/** A source of a row that the table does not have, with a file of these contents. */
export function madeSource(
  dir: string,
  row: Partial<SourceRow> & Pick<SourceRow, 'id' | 'kind'>,
  contents: string,
): ResolvedSource {
  const path = join(dir, row.id)
  writeFileSync(path, contents)
  const made: SourceRow = { title: row.id, format: 'text', enabled: true, licence: '', credit: '', note: '', ...row }
  return resolveSources({ [row.id]: { url: pathToFileURL(path).href } }, [made])[0] as ResolvedSource
}

/** A list that names the services whose servers it holds. */
export function writeServers(services: Readonly<Record<string, readonly string[]>>): string {
  const lists = Object.entries(services).map(([name, ips]) => [name, { servers: [{ ips }] }])
  return JSON.stringify(Object.fromEntries(lists))
}

export async function openTables(t: Test, files: Readonly<Record<string, string | Buffer>>) {
  const dir = folder(t)
  const { path } = await compileTables({ dataDir: dir, sources: writeSources(dir, files) })
  return { ...loadTables(path), path }
}

export function addressFrom(family: 4 | 6, bits: bigint): Address {
  const word = (shift: bigint) => Number(BigInt.asIntN(32, bits >> shift)) | 0
  return family === 4 ? address4(word(0n)) : address6(word(96n), word(64n), word(32n), word(0n))
}

export function randomBits(random: (below: number) => number, count: number): bigint {
  let bits = 0n
  for (let left = count; left > 0; left -= 16) bits = (bits << 16n) | BigInt(random(2 ** 16))
  return BigInt.asUintN(count, bits)
}

/** Folder of real data for tests; such tests are skipped without it. */
export const SHARED_DATA =
  process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../../../shared/data')
