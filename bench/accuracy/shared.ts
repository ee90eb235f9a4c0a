import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { NETWORK_CLASSES, type NetworkClass } from '@sallyport/core'

/** This folder has the labels and the snapshots of lists, which are no part of the repository. */
const SHARED_DATA = process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../shared/data')

/** Reports whether the folder has a file: some files were added later than others. */
export function isShared(path: string): boolean {
  return existsSync(join(SHARED_DATA, path))
}

export const isSharedDataHere = isShared('labels/ip-labels.csv')

/** Returns the unpacked text of a shared file. */
export function readShared(path: string): string {
  const bytes = readFileSync(join(SHARED_DATA, path))
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
}

/** Lines of a shared file that say something. */
export function sharedLines(path: string): readonly string[] {
  return readShared(path)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

/** Fields of a shared CSV without line breaks inside quotes, head left out. */
export function sharedRows(path: string): readonly (readonly string[])[] {
  return sharedLines(path)
    .slice(1)
    .map((line) => [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map((field) => field[1] ?? field[2] ?? ''))
}

/** An address has the class that its source implies. */
export interface Labelled {
  readonly address: string
  readonly label: NetworkClass
}

export function labelledAddresses(): readonly Labelled[] {
  return sharedRows('labels/ip-labels.csv').map(([address = '', label = '']) => {
    const known = NETWORK_CLASSES.find((name) => name === label)
    if (known === undefined) throw new Error(`no class "${label}"`)
    return { address, label: known }
  })
}

/** Lists the paths of the files in a shared folder, and none where the folder is missing. */
export function listShared(folder: string): readonly string[] {
  const path = join(SHARED_DATA, folder)
  return existsSync(path) ? readdirSync(path).map((name) => `${folder}/${name}`) : []
}
