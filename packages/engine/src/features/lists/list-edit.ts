import { chmod, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { entriesFor, readListEntries, SallyportError } from '@sallyport/core'
import { replaceFile } from '#files'
import { DATA_LOCK, inDataDir } from '#service'
import type { Settings } from '#settings'
import { withheldSentence } from './kept-list.ts'
import { type FileConfig, isInline, type ListConfig, type ListConfigs, remoteUrl } from './list-config.ts'
import { readNow } from './read-lists.ts'

type ListSettings = Pick<Settings, 'dataDir' | 'data'> & { readonly lists: ListConfigs }

/** Shows a list and its origin. */
export interface ShownList {
  readonly name: string
  readonly from: 'file' | 'url' | 'crowdsec' | 'configuration'
  readonly file?: string | undefined
  readonly entries: readonly string[]
  /** Numbers the first invalid lines. */
  readonly unread: readonly number[]
  /** One sentence about the entries that the list omits; absent if it omits none. */
  readonly withheld?: string | undefined
}

/** Shows where a list of a configuration is stored. */
export interface PlacedList {
  readonly name: string
  readonly from: ShownList['from']
  /** Names the file, or the host of the URL, because the URL may hold a token. */
  readonly place?: string | undefined
  /** Says why `editList` cannot change the list; absent if it can. */
  readonly fixed?: string | undefined
}

export function placedLists({ lists }: { readonly lists: ListConfigs }): readonly PlacedList[] {
  return Object.entries(lists).map(([name, list]) => ({
    name,
    ...findOrigin(list),
    ...(fixedBy(list) !== undefined && { fixed: fixedBy(list) }),
  }))
}

/** Returns the entries of a list, or those that match `wanted`; of a URL it reads the last copy. Rejects with `invalid_request`. */
export async function showList(config: ListSettings, name: string, wanted?: string): Promise<ShownList> {
  const list = findList(config, name)
  const { read } = await readNow(config.dataDir, name, list)
  if (read.state === 'refused') throw refused(`The list ${name} ${read.reason}.`)
  const { addresses, systems, texts, unread } = read.entries
  const entries =
    wanted === undefined
      ? [...addresses, ...systems.map((system) => `AS${system}`), ...texts]
      : entriesFor(read.entries, wanted)
  const withheld = read.entries.withheldCount > 0 ? withheldSentence(name, read.entries) : undefined
  const { from } = findOrigin(list)
  return { name, from, ...('file' in list && { file: list.file }), entries, unread, withheld }
}

function findOrigin(list: ListConfig): Pick<PlacedList, 'from' | 'place'> {
  if (isInline(list)) return { from: 'configuration' }
  if ('file' in list) return { from: 'file', place: list.file }
  return { from: 'url' in list ? 'url' : 'crowdsec', place: new URL(remoteUrl(list)).host }
}

/** Adds entries to a list or removes them. */
export interface ListEdit {
  readonly what: 'add' | 'remove'
  readonly entries: readonly string[]
}

/**
 * Changes the file of a list completely or not at all, and keeps its comments; resolves with the entries that were added or removed.
 * Rejects with `invalid_request` for a list without a file of lines, and for an invalid entry.
 */
export async function editList(config: ListSettings, name: string, edit: ListEdit): Promise<readonly string[]> {
  const { file, wide } = findFile(config, name)
  const bad = edit.entries.find((entry) => entryKey(entry) === undefined)
  if (bad !== undefined) throw refused(`"${bad}" is not an address, CIDR, AS number or pattern.`)
  if (edit.what === 'add' && !wide) {
    const entries = readListEntries(edit.entries, { isGuarded: true })
    if (entries.withheldCount > 0) throw refused(withheldSentence(name, entries))
  }
  const change = async (): Promise<readonly string[]> => {
    const path = await realpath(file).catch(() => {
      throw refused(`The file of the list ${name} does not exist: ${file}.`)
    })
    const [text, { mode }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    if (/^\s*[[{]/.test(text)) throw refused(`The list ${name} is JSON. Change it at its source.`)
    if (/[\0\uFFFD]/.test(text)) throw refused(`The list ${name} is not UTF-8. Change it at its source.`)
    const { lines, changed } = await changedLines(text, edit)
    if (changed.length === 0) return changed
    await replaceFile(path, lines)
    await chmod(path, mode)
    return changed
  }
  // The lock makes both of two simultaneous changes.
  return inDataDir(config, () =>
    DATA_LOCK.withLock(join(config.dataDir, 'list-edits.lock'), () =>
      change().catch((error: unknown) => {
        const { code } = error as NodeJS.ErrnoException
        throw code === undefined || error instanceof SallyportError
          ? error
          : refused(`${file} cannot be changed: ${code}.`)
      }),
    ),
  )
}

async function changedLines(text: string, { what, entries }: ListEdit) {
  const lines = text.split('\n')
  const keys: (string | undefined)[] = []
  for (const line of lines) {
    keys.push(entryKey(line))
    // This process may serve visitors too, so it pauses for them.
    if (keys.length % LINES_A_TURN === 0) await turn()
  }
  const there = new Set(keys)
  const byKey = new Map(entries.map((entry) => [entryKey(entry), entry]))
  const changed = [...byKey].filter(([key]) => there.has(key) === (what === 'remove'))
  const news = changed.map(([, entry]) => entry)
  if (what === 'remove')
    return { lines: lines.filter((_, at) => keys[at] === undefined || !byKey.has(keys[at])).join('\n'), changed: news }
  const end = text === '' || text.endsWith('\n') ? '' : '\n'
  return { lines: `${text}${end}${news.map((entry) => `${entry}\n`).join('')}`, changed: news }
}

const LINES_A_TURN = 1_000

/** Returns the key of a line's entry, by which the entry is found; `undefined` for a comment. */
function entryKey(line: string): string | undefined {
  const { addresses, systems, texts, left } = readListEntries([line])
  const found = [...addresses, ...systems.map((system) => `AS${system}`), ...texts]
  return found.length === 1 && left === 0 ? found[0] : undefined
}

function findList({ lists }: ListSettings, name: string): ListConfig {
  const list = Object.hasOwn(lists, name) ? lists[name] : undefined
  if (list !== undefined) return list
  const names = Object.keys(lists)
  throw refused(`There is no list "${name}"${names.length === 0 ? '; lists is empty' : `: ${names.join(', ')}`}.`)
}

function findFile(config: ListSettings, name: string): FileConfig {
  const list = findList(config, name)
  const why = fixedBy(list)
  if (why !== undefined || !('file' in list)) throw refused(`The list ${name} ${why}`)
  return list
}

/** Says why a list is changed elsewhere, without naming the list. */
function fixedBy(list: ListConfig): string | undefined {
  if (isInline(list)) return 'is in the configuration. Change it there.'
  if ('crowdsec' in list) return 'comes from CrowdSec. Change it with cscli decisions.'
  if ('url' in list) return 'comes from a URL. Change it there.'
  const { format } = list
  return format === 'csv' || format === 'json' ? `is ${format.toUpperCase()}. Change it at its source.` : undefined
}

function refused(message: string): SallyportError {
  return new SallyportError('invalid_request', message)
}
