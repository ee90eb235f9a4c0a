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
  listFiles,
  type NamedFiles,
} from '@sallyport/engine'
import { readFault } from '@sallyport/engine/files'
import { type CommonOptions, findConfigFile, readConfigLayers } from './settings.ts'

/** Two checks this far apart must agree: a program that writes the file in place has finished then. */
const SETTLED_MS = 500
/** Does the same for a file shorter than the one in force, as while a slow connection writes it. */
const SHORTER_SETTLED_MS = 2_000
/** Limits the wait for a file that is still being written. */
const MAX_SETTLING_MS = 10_000

/** Reads the sources of a run's configuration: a file, the files that it names, variables and flags. */
export interface ConfigSource {
  /** Absent: there is no file yet. Once a file was found its name stays, even where it is missing for a moment. */
  readonly file: string | undefined
  /** Reads the current configuration. Throws `invalid_config`. */
  read(): ConfigRead
  /** Reads the configuration once it has stayed the same for a moment; rejects with `invalid_config`, and when the signal aborts. */
  readSettled(signal?: AbortSignal): Promise<SettledRead>
  /** Reports whether the file, or a file that it names, has changed since the last read; rejects where it cannot be read. */
  hasChanged(): Promise<boolean>
}

export interface SettledRead extends ConfigRead {
  /** Lists files that the configuration names, whose content has changed since the last read. */
  readonly changedFiles: readonly string[]
}

export function configSource(options: CommonOptions, flags: ConfigInput): ConfigSource {
  let file = findConfigFile(options)
  /** Holds the prints of what was last read, valid or not, by the file that was read. */
  let prints: Prints = new Map()
  let inForce: string | undefined

  /** Reads, then checks the prints: where an earlier check found the same prints, the read text is what they describe. */
  const attempt = (): Attempt => {
    file ??= findConfigFile(options)
    const read = wrap(() => readConfigLayers({ ...options, ...(file !== undefined && { config: file }) }, flags, true))
    const { secrets, files } = 'value' in read ? listFiles(read.value) : NO_FILES
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
      if (file !== undefined && isStream(file)) throw unusable(`${file} is a stream and cannot be reread`)
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
      // Another process read the configuration in force.
      if (prints.size === 0) return true
      const now = await Promise.all([...prints].map(async ([name, print]) => (await takePrint(name)) === print))
      return now.includes(false)
    },
  }
}

const NO_FILES: NamedFiles = { secrets: [], files: [] }

type Tried<T> = { readonly value: T } | { readonly error: Error }

/** Maps files to digests of their content, or to the reason why a file cannot be read. */
type Prints = ReadonlyMap<string, string>

interface Attempt {
  readonly read: Tried<ConfigRead>
  readonly text: string | undefined
  readonly files: readonly string[]
  readonly prints: Prints
}

function wrap<T>(work: () => T): Tried<T> {
  try {
    return { value: work() }
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }
}

function readTextFile(file: string | undefined): string | undefined {
  const text = wrap(() => readFileSync(file ?? '', 'utf8'))
  return 'value' in text ? text.value : undefined
}

function takePrints(files: readonly string[]): Prints {
  // Reading a pipe or a device would block.
  const readOne = (file: string): Buffer => (isStream(file) ? Buffer.alloc(0) : readFileSync(file))
  return new Map(files.map((file) => [file, printOfRead(wrap(() => readOne(file)))]))
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

/** Reports whether a file is a pipe, which can be read only once, or another place that is not read whole. */
function isStream(file: string): boolean {
  return readFault(file) !== undefined
}

function isSame(one: Prints, other: Prints): boolean {
  return one.size === other.size && [...one].every(([file, print]) => other.get(file) === print)
}

/** Reports whether a text is cut off: a full disk, or an interrupted copy, leaves the beginning of a text, which may be valid. */
function isCutOff(text: string | undefined, before: string | undefined): boolean {
  if (text === undefined || before === undefined || text.length >= before.length) return false
  return before.startsWith(text) && !text.endsWith('\n') && !/^\r?\n/.test(before.slice(text.length))
}

/** Writes a warning of a configuration as a line. */
export function warningText(fault: ConfigFault): string {
  return `warning: ${faultText(fault)}`
}

function cutOff(file: string): SallyportError {
  return unusable(`${file} is the configuration in force, truncated. If this is intended, end the last line`)
}

function unusable(why: string): SallyportError {
  return new SallyportError('invalid_config', why)
}
