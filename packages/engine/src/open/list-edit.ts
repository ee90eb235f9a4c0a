import { chmod, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readListEntries, SallyportError } from '@sallyport/core'
import { replaceFile } from '#datasets'
import { parseConfig } from './config/read.ts'
import type { Config, ConfigInput } from './config/schema.ts'
import { DATA_LOCK, inDataDir } from './data-dir.ts'
import { readNow } from './lists/read-lists.ts'

/** A list, and where it comes from. */
export interface ShownList {
  readonly name: string
  readonly from: 'file' | 'url' | 'configuration'
  readonly file?: string | undefined
  readonly entries: readonly string[]
  /** Numbers of the first lines that are no entries. */
  readonly unread: readonly number[]
}

/** The entries of a list as they are now; of a URL those of the last copy. Rejects with `invalid_request`. */
export async function showList(options: ConfigInput, name: string): Promise<ShownList> {
  const config = parseConfig(options)
  const list = listOf(config, name)
  const { read } = await readNow(config.dataDir, name, list)
  if (read.state === 'refused') throw refused(`The list ${name} ${read.reason}.`)
  const { addresses, systems, texts, unread } = read.entries
  const entries = [...addresses, ...systems.map((system) => `AS${system}`), ...texts]
  return { name, from: fromOf(list), ...('file' in list && { file: list.file }), entries, unread }
}

function fromOf(list: Config['lists'][string]): ShownList['from'] {
  if (!('format' in list)) return 'configuration'
  return 'file' in list ? 'file' : 'url'
}

/** A change of a list by hand. */
export interface ListEdit {
  readonly what: 'add' | 'remove'
  readonly entries: readonly string[]
}

/**
 * Changes the file of a list whole or not at all, with its comments; resolves with the entries that were not there, or were.
 * Rejects with `invalid_request` for a list without a file of lines, and for an entry that is none.
 */
export async function editList(options: ConfigInput, name: string, edit: ListEdit): Promise<readonly string[]> {
  const config = parseConfig(options)
  const file = fileOf(config, name)
  const bad = edit.entries.find((entry) => keyOf(entry) === undefined)
  if (bad !== undefined) throw refused(`"${bad}" is no address, CIDR, system or pattern.`)
  const change = async (): Promise<readonly string[]> => {
    const path = await realpath(file).catch(() => {
      throw refused(`The list ${name} has no file: ${file} is not there.`)
    })
    const [text, { mode }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    if (/^\s*[[{]/.test(text)) throw refused(`The list ${name} is JSON: change it where it is made.`)
    const { lines, changed } = changedLines(text, edit)
    if (changed.length === 0) return changed
    await replaceFile(path, lines)
    await chmod(path, mode)
    return changed
  }
  // Two changes at one time are both made.
  return inDataDir(config, () => DATA_LOCK.withLock(join(config.dataDir, 'list-edits.lock'), change))
}

function changedLines(
  text: string,
  { what, entries }: ListEdit,
): { readonly lines: string; readonly changed: readonly string[] } {
  const lines = text.split('\n')
  const keys = lines.map(keyOf)
  const there = new Set(keys)
  const asked = new Map(entries.map((entry) => [keyOf(entry), entry]))
  const changed = [...asked].filter(([key]) => there.has(key) === (what === 'remove'))
  const news = changed.map(([, entry]) => entry)
  if (what === 'remove')
    return { lines: lines.filter((_, at) => keys[at] === undefined || !asked.has(keys[at])).join('\n'), changed: news }
  const end = text === '' || text.endsWith('\n') ? '' : '\n'
  return { lines: `${text}${end}${news.map((entry) => `${entry}\n`).join('')}`, changed: news }
}

/** The one entry of a line, by which it is found; `undefined` for a comment. */
function keyOf(line: string): string | undefined {
  const { addresses, systems, texts, left } = readListEntries([line])
  const found = [...addresses, ...systems.map((system) => `AS${system}`), ...texts]
  return found.length === 1 && left === 0 ? found[0] : undefined
}

function listOf({ lists }: Config, name: string): Config['lists'][string] {
  const list = Object.hasOwn(lists, name) ? lists[name] : undefined
  if (list !== undefined) return list
  const names = Object.keys(lists)
  throw refused(`There is no list "${name}"${names.length === 0 ? '; lists names none' : `: ${names.join(', ')}`}.`)
}

function fileOf(config: Config, name: string): string {
  const list = listOf(config, name)
  if (!('format' in list)) throw refused(`The list ${name} is written in the configuration: change it there.`)
  if ('url' in list) throw refused(`The list ${name} is that of a url: it is changed there.`)
  if (list.format === 'csv' || list.format === 'json')
    throw refused(`The list ${name} is ${list.format.toUpperCase()}: change it where it is made.`)
  return list.file
}

function refused(message: string): SallyportError {
  return new SallyportError('invalid_request', message)
}
