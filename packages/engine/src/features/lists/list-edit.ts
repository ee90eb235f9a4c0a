import { chmod, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { entriesFor, readListEntries, SallyportError } from '@sallyport/core'
import { replaceFile } from '#datasets/service'
import { DATA_LOCK, inDataDir } from '#service'
import type { Settings } from '#settings'
import { withheldSentence } from './kept-list.ts'
import { type FileConfig, isInline, type ListConfig, type ListConfigs } from './list-config.ts'
import { readNow } from './read-lists.ts'

/** The settings of lists, and of the folder of their copies. */
type ListSettings = Pick<Settings, 'dataDir' | 'data'> & { readonly lists: ListConfigs }

/** A list, and where it comes from. */
export interface ShownList {
  readonly name: string
  readonly from: 'file' | 'url' | 'crowdsec' | 'configuration'
  readonly file?: string | undefined
  readonly entries: readonly string[]
  /** Numbers of the first lines that are not entries. */
  readonly unread: readonly number[]
  /** One sentence about the entries that it leaves out; absent: none. */
  readonly withheld?: string | undefined
}

/** A list of a configuration by its place. */
export interface PlacedList {
  readonly name: string
  readonly from: ShownList['from']
  /** The file, or the host of the URL, which may hold a token. */
  readonly place?: string | undefined
  /** Why `editList` cannot change it; absent: it can. */
  readonly fixed?: string | undefined
}

export function placedLists({ lists }: { readonly lists: ListConfigs }): readonly PlacedList[] {
  return Object.entries(lists).map(([name, list]) => ({
    name,
    from: fromOf(list),
    ...('file' in list && { place: list.file }),
    ...('url' in list && { place: new URL(list.url).host }),
    ...('crowdsec' in list && { place: new URL(list.crowdsec).host }),
    ...(fixedBy(list) !== undefined && { fixed: fixedBy(list) }),
  }))
}

/**
 * The entries of a list as they are now, or those by which it holds what is wanted; of a URL those of the last copy. Rejects
 * with `invalid_request`.
 */
export async function showList(config: ListSettings, name: string, wanted?: string): Promise<ShownList> {
  const list = listOf(config, name)
  const { read } = await readNow(config.dataDir, name, list)
  if (read.state === 'refused') throw refused(`The list ${name} ${read.reason}.`)
  const { addresses, systems, texts, unread } = read.entries
  const entries =
    wanted === undefined
      ? [...addresses, ...systems.map((system) => `AS${system}`), ...texts]
      : entriesFor(read.entries, wanted)
  const withheld = read.entries.withheldCount > 0 ? withheldSentence(name, read.entries) : undefined
  return { name, from: fromOf(list), ...('file' in list && { file: list.file }), entries, unread, withheld }
}

function fromOf(list: ListConfig): ShownList['from'] {
  if (isInline(list)) return 'configuration'
  if ('crowdsec' in list) return 'crowdsec'
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
export async function editList(config: ListSettings, name: string, edit: ListEdit): Promise<readonly string[]> {
  const { file, wide } = fileOf(config, name)
  const bad = edit.entries.find((entry) => keyOf(entry) === undefined)
  if (bad !== undefined) throw refused(`"${bad}" is not an address, CIDR, system or pattern.`)
  if (edit.what === 'add' && !wide) {
    const entries = readListEntries(edit.entries, { isGuarded: true })
    if (entries.withheldCount > 0) throw refused(withheldSentence(name, entries))
  }
  const change = async (): Promise<readonly string[]> => {
    const path = await realpath(file).catch(() => {
      throw refused(`The list ${name} has no file: ${file} is not there.`)
    })
    const [text, { mode }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    if (/^\s*[[{]/.test(text)) throw refused(`The list ${name} is JSON: change it where it is made.`)
    if (/[\0\uFFFD]/.test(text)) throw refused(`The list ${name} is not UTF-8: change it where it is made.`)
    const { lines, changed } = await changedLines(text, edit)
    if (changed.length === 0) return changed
    await replaceFile(path, lines)
    await chmod(path, mode)
    return changed
  }
  // Two changes at one time are both made.
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

async function changedLines(
  text: string,
  { what, entries }: ListEdit,
): Promise<{ readonly lines: string; readonly changed: readonly string[] }> {
  const lines = text.split('\n')
  const keys: (string | undefined)[] = []
  for (const line of lines) {
    keys.push(keyOf(line))
    // The console's process answers visitors too.
    if (keys.length % LINES_A_TURN === 0) await turn()
  }
  const there = new Set(keys)
  const asked = new Map(entries.map((entry) => [keyOf(entry), entry]))
  const changed = [...asked].filter(([key]) => there.has(key) === (what === 'remove'))
  const news = changed.map(([, entry]) => entry)
  if (what === 'remove')
    return { lines: lines.filter((_, at) => keys[at] === undefined || !asked.has(keys[at])).join('\n'), changed: news }
  const end = text === '' || text.endsWith('\n') ? '' : '\n'
  return { lines: `${text}${end}${news.map((entry) => `${entry}\n`).join('')}`, changed: news }
}

const LINES_A_TURN = 1_000

/** The one entry of a line, by which it is found; `undefined` for a comment. */
function keyOf(line: string): string | undefined {
  const { addresses, systems, texts, left } = readListEntries([line])
  const found = [...addresses, ...systems.map((system) => `AS${system}`), ...texts]
  return found.length === 1 && left === 0 ? found[0] : undefined
}

function listOf({ lists }: ListSettings, name: string): ListConfig {
  const list = Object.hasOwn(lists, name) ? lists[name] : undefined
  if (list !== undefined) return list
  const names = Object.keys(lists)
  throw refused(`There is no list "${name}"${names.length === 0 ? '; lists names none' : `: ${names.join(', ')}`}.`)
}

function fileOf(config: ListSettings, name: string): FileConfig {
  const list = listOf(config, name)
  const why = fixedBy(list)
  if (why !== undefined || !('file' in list)) throw refused(`The list ${name} is ${why}`)
  return list
}

/** Why a list is changed elsewhere, without its subject. */
function fixedBy(list: ListConfig): string | undefined {
  if (isInline(list)) return 'written in the configuration: change it there.'
  if ('crowdsec' in list) return 'that of CrowdSec: it is changed by cscli decisions.'
  if ('url' in list) return 'that of a url: it is changed there.'
  const { format } = list
  return format === 'csv' || format === 'json' ? `${format.toUpperCase()}: change it where it is made.` : undefined
}

function refused(message: string): SallyportError {
  return new SallyportError('invalid_request', message)
}
