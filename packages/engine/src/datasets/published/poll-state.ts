import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, OWN_FILE } from '#files'
import { isRecord } from '../parse/json-paths.ts'
import { stampOf } from '../sources/replace-file.ts'

/** All that is known of a publisher beside its manifest. Times are milliseconds since the epoch. */
export interface PollState {
  readonly etag?: string | undefined
  /** When it last said that what is here is what it publishes. */
  readonly checked?: number | undefined
  /** When it was last asked. */
  readonly tried?: number | undefined
  /** How often in a row it could not be asked, or had what is not to be used. */
  readonly failures: number
  /** Why the last time changed nothing, and whether that was refused. */
  readonly error?: string | undefined
  readonly refused?: boolean | undefined
}

export interface PollStates {
  read(): PollState
  write(state: PollState): void
  /** Changes with every write. */
  revision(): string
}

/** It is written twice a minute and may be lost: a power cut costs one question, so nothing waits for the disk (D578). */
export function openPollStates(folder: string): PollStates {
  const path = join(folder, 'poll.json')
  return {
    read() {
      try {
        const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
        return isState(value) ? value : NONE
      } catch {
        return NONE
      }
    },
    write(state) {
      makeFolder(folder)
      const temporary = `${path}.tmp`
      writeFileSync(temporary, `${JSON.stringify(state)}\n`, { mode: OWN_FILE })
      renameSync(temporary, path)
    },
    revision: () => stampOf(path),
  }
}

const NONE: PollState = { failures: 0 }

function isState(value: unknown): value is PollState {
  if (!isRecord(value)) return false
  const { failures, checked, tried } = value
  return [failures, checked ?? 0, tried ?? 0].every((number) => typeof number === 'number')
}
