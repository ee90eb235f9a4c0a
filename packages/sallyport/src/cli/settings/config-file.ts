import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { SallyportError } from '@sallyport/core'
import {
  type ConfigFault,
  type ConfigInput,
  type ConfigRead,
  faultText,
  filesOf,
  type NamedFiles,
} from '@sallyport/engine'
import { readFault } from '@sallyport/engine/files'
import { type CommonOptions, findConfigFile, readConfigLayers } from './settings.ts'

/** Two looks so far apart must find the same: who writes a file in place has come to its end then. */
const SETTLED_MS = 500
/** The same for a file shorter than the one in force, as it is while somebody writes it over a slow line. */
const SHORTER_SETTLED_MS = 2_000
/** A file that is written for longer is not waited for. */
const MAX_SETTLING_MS = 10_000

/** The sources of a run's configuration: a file, those that it names, variables and flags. */
export interface ConfigSource {
  /** Absent: there is none yet. Once there was one it stays the one, also where it is missing for a moment. */
  readonly file: string | undefined
  /** Reads it as it is now. Throws `invalid_config`. */
  read(): ConfigRead
  /** Reads it once it has stayed the same for a moment; rejects with `invalid_config`, and where the signal is aborted. */
  readSettled(signal?: AbortSignal): Promise<SettledRead>
  /** Whether it, or a file that it names, is other than when it was read last; rejects where it cannot be read. */
  hasChanged(): Promise<boolean>
}

export interface SettledRead extends ConfigRead {
  /** Files that the configuration names, and whose content is another than when it was read last. */
  readonly changedFiles: readonly string[]
}

export function configSource(options: CommonOptions, flags: ConfigInput): ConfigSource {
  let file = findConfigFile(options)
  /** The prints of what was last read, good or not, by the file that it was read from. */
  let prints: Prints = new Map()
  let inForce: string | undefined

  /** Reads, then looks at what was read: where a look before found the same, that is what was read. */
  const attempt = (): Attempt => {
    file ??= findConfigFile(options)
    const read = tried(() => readConfigLayers({ ...options, ...(file !== undefined && { config: file }) }, flags, true))
    const { secrets, files } = 'value' in read ? filesOf(read.value) : NO_FILES
    const own = file === undefined ? [] : [file]
    return { read, files, text: readTextFile(file), prints: takePrints([...own, ...secrets, ...files]) }
  }
  const accept = ({ read, text, files, prints: found }: Attempt): SettledRead => {
    const before = prints
    prints = found
    if ('error' in read) throw read.error
    if (file !== undefined && isCutOff(text, inForce)) throw cutOff(file)
    inForce = text
    const changedFiles = files.filter((named) => before.has(named) && before.get(named) !== found.get(named))
    return { ...read.value, changedFiles }
  }
  return {
    get file() {
      return file
    },
    read: () => accept(attempt()),
    async readSettled(signal) {
      if (file !== undefined && isStream(file)) throw unusable(`${file} is not a regular file: it was read once`)
      const until = performance.now() + MAX_SETTLING_MS
      for (let before = attempt(); ; ) {
        const isShorter = (before.text?.length ?? 0) < (inForce?.length ?? 0)
        await delay(isShorter ? SHORTER_SETTLED_MS : SETTLED_MS, undefined, { signal })
        const now = attempt()
        if (isSame(before.prints, now.prints)) return accept(now)
        if (performance.now() > until) throw unusable(`${file} is still being written`)
        before = now
      }
    },
    async hasChanged() {
      if (file === undefined || isStream(file)) return false
      await readFile(file)
      // The configuration that it runs by was read by another process.
      if (prints.size === 0) return true
      const now = await Promise.all([...prints].map(async ([name, print]) => (await takePrint(name)) === print))
      return now.includes(false)
    },
  }
}

const NO_FILES: NamedFiles = { secrets: [], files: [] }

type Tried<T> = { readonly value: T } | { readonly error: Error }

/** Digests of files by name; of one that cannot be read, why. */
type Prints = ReadonlyMap<string, string>

interface Attempt {
  readonly read: Tried<ConfigRead>
  readonly text: string | undefined
  readonly files: readonly string[]
  readonly prints: Prints
}

function tried<T>(work: () => T): Tried<T> {
  try {
    return { value: work() }
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }
}

function readTextFile(file: string | undefined): string | undefined {
  const text = tried(() => readFileSync(file ?? '', 'utf8'))
  return 'value' in text ? text.value : undefined
}

function takePrints(files: readonly string[]): Prints {
  // A pipe, or a device, would be waited for.
  const readOne = (file: string): Buffer => (isStream(file) ? Buffer.alloc(0) : readFileSync(file))
  return new Map(files.map((file) => [file, printOfRead(tried(() => readOne(file)))]))
}

async function takePrint(file: string): Promise<string> {
  return printOfRead(
    await (isStream(file) ? Promise.resolve(Buffer.alloc(0)) : readFile(file)).then(
      (value) => ({ value }),
      (error: Error) => ({ error }),
    ),
  )
}

function printOfRead(read: Tried<Buffer>): string {
  if ('error' in read) return 'unreadable'
  return createHash('sha256').update(read.value).digest('hex')
}

/** A pipe, which gives what it has once, or another place that is not read whole. */
function isStream(file: string): boolean {
  return readFault(file) !== undefined
}

function isSame(one: Prints, other: Prints): boolean {
  return one.size === other.size && [...one].every(([file, print]) => other.get(file) === print)
}

/** A disk that is full, or a copy that was broken off, leaves the beginning of a text, which may well be valid. */
function isCutOff(text: string | undefined, before: string | undefined): boolean {
  if (text === undefined || before === undefined || text.length >= before.length) return false
  return before.startsWith(text) && !text.endsWith('\n') && !/^\r?\n/.test(before.slice(text.length))
}

/** A warning of a configuration as a line. */
export function warningText(fault: ConfigFault): string {
  return `warning: ${faultText(fault)}`
}

function cutOff(file: string): SallyportError {
  return unusable(`${file} is the configuration in force, cut off within a line; if that is intended, end the line`)
}

function unusable(why: string): SallyportError {
  return new SallyportError('invalid_config', why)
}
