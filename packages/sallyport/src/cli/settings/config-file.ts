import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { SallyportError } from '@sallyport/core'
import { type ConfigFault, type ConfigInput, type ConfigRead, faultText, listFiles } from '@sallyport/engine'
import { readFault } from '@sallyport/engine/files'
import { type CommonOptions, findConfigFile, readConfigLayers } from './settings.ts'

/** Two checks this far apart must agree: a program that writes the file in place has finished then. */
const SETTLED_MS = 500
/** Does the same for a file shorter than the one in force, as while a slow connection writes it. */
const SHORTER_SETTLED_MS = 2_000
/** Limits the wait for a file that is still being written. */
const MAX_SETTLING_MS = 10_000

export type ConfigSource = ReturnType<typeof configSource>

/** `changedFiles` lists files that the configuration names, and that have changed since the last read. */
type SettledRead = ConfigRead & { readonly changedFiles: readonly string[] }

/** Reads the sources of a run's configuration: a file, the files that it names, variables and flags. */
export function configSource(options: CommonOptions, flags: ConfigInput) {
  let file = findConfigFile(options)
  /** Holds the prints of what was last read, valid or not, by the file that was read. */
  let prints: Prints = new Map()
  let inForce = ''

  /** Reads, then checks the prints: where an earlier check found the same prints, the read text is what they describe. */
  const attempt = () => {
    file ??= findConfigFile(options)
    const own = file === undefined ? [] : [file]
    const text = own.map(readTextFile).join('')
    try {
      const read = readConfigLayers({ ...options, ...(file !== undefined && { config: file }) }, flags, true)
      const { secrets, files } = listFiles(read)
      return { read, files, text, prints: takePrints([...own, ...secrets, ...files]) }
    } catch (error) {
      return { error, files: [], text, prints: takePrints(own) }
    }
  }
  const accept = ({ read, error, text, files, prints: found }: ReturnType<typeof attempt>): SettledRead => {
    const before = prints
    prints = found
    if (read === undefined) throw error
    if (isCutOff(text, inForce))
      throw unusable(`${file} is the configuration in force, truncated. If this is intended, end the last line`)
    inForce = text
    const changedFiles = files.filter((named) => before.has(named) && before.get(named) !== found.get(named))
    return { ...read, changedFiles }
  }
  return {
    /** Absent: there is no file yet. Once a file was found its name stays, even where it is missing for a moment. */
    get file() {
      return file
    },
    /** Reads the current configuration. Throws `invalid_config`. */
    read: () => accept(attempt()),
    /** Reads the configuration once it has stayed the same for a moment; rejects with `invalid_config`, and when the signal aborts. */
    async readSettled(signal?: AbortSignal) {
      // A pipe can be read only once.
      if (file !== undefined && readFault(file) !== undefined)
        throw unusable(`${file} is a stream and cannot be reread`)
      const until = performance.now() + MAX_SETTLING_MS
      for (let before = attempt(); ; ) {
        await delay(before.text.length < inForce.length ? SHORTER_SETTLED_MS : SETTLED_MS, undefined, { signal })
        const now = attempt()
        if (isDeepStrictEqual(before.prints, now.prints)) return accept(now)
        if (performance.now() > until) throw unusable(`${file} is still being written`)
        before = now
      }
    },
    /** Reports whether the file, or a file that it names, has changed since the last read; throws where it cannot be read. */
    hasChanged(): boolean {
      if (file === undefined || readFault(file) !== undefined) return false
      accessSync(file, constants.R_OK)
      // Another process read the configuration in force.
      return prints.size === 0 || !isDeepStrictEqual(takePrints([...prints.keys()]), prints)
    },
  }
}

/** Maps files to what a write changes of them. */
type Prints = ReadonlyMap<string, string>

function readTextFile(file: string): string {
  try {
    return readFault(file) === undefined ? readFileSync(file, 'utf8') : ''
  } catch {
    return ''
  }
}

function takePrints(files: readonly string[]): Prints {
  return new Map(
    files.map((file) => {
      const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true, throwIfNoEntry: false }) ?? {}
      return [file, [dev, ino, size, mtimeNs].join()]
    }),
  )
}

/** Reports whether a text is cut off: a full disk, or an interrupted copy, leaves the beginning of a text, which may be valid. */
function isCutOff(text: string, before: string): boolean {
  if (text === '' || text.length >= before.length) return false
  return before.startsWith(text) && !text.endsWith('\n') && !/^\r?\n/.test(before.slice(text.length))
}

export function warningText(fault: ConfigFault): string {
  return `warning: ${faultText(fault)}`
}

function unusable(why: string): SallyportError {
  return new SallyportError('invalid_config', why)
}
