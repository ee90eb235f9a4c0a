import { isRecord } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { tryJson } from '../parse/json-paths.ts'

/** A feed to request, as the table and the configuration name it. */
export interface Feed {
  readonly row: SourceRow
  /** The scheme is http, https or file. */
  readonly url: string
  /** False where the user names another place than the table does. */
  readonly published: boolean
  /** The file in a mirror of the operator, which is requested instead; its content counts as the publisher's. */
  readonly mirror?: string | undefined
  /** `account:secret`, sent as HTTP Basic authorisation. */
  readonly key?: string | undefined
}

/** One download of a feed that was read whole, found plausible and taken into use. */
export interface Generation {
  /** First 16 hex digits of the SHA-256 of its bytes; its file is `<id>.feed`. */
  readonly id: string
  /** Bytes. */
  readonly size: number
  readonly entries: number
  /** When it was made, as far as it or its server says, else when it was taken; milliseconds since the epoch. */
  readonly made: number
  /** Whether it says itself when it was made. */
  readonly dated?: true | undefined
  /** When it was taken into use, milliseconds since the epoch. */
  readonly taken: number
}

/** The publisher's last complete response, taken into use or not. The next request asks whether it changed. */
export interface SeenAnswer {
  readonly id: string
  readonly etag?: string | undefined
  /** As the server wrote it. */
  readonly lastModified?: string | undefined
  /** Why it was not taken; absent for what is in use. */
  readonly refused?: string | undefined
}

/** All that is known of a feed, as stored in `state.json`. Times are milliseconds since the epoch. */
export interface FeedState {
  /** The URL of the configuration that everything below came from: what came from another one is not used. */
  readonly url: string
  readonly current?: Generation | undefined
  /** The generation before, which a roll-back takes into use again. */
  readonly previous?: Generation | undefined
  readonly seen?: SeenAnswer | undefined
  /** When the publisher last confirmed that `current` is what it publishes. */
  readonly checked?: number | undefined
  /** When a request first failed. */
  readonly first?: number | undefined
  /** When the feed was last requested. */
  readonly tried?: number | undefined
  /** Counts the failures in a row since. */
  readonly failures: number
  /** Why the last time failed. */
  readonly error?: string | undefined
}

/** Reads a state file; `undefined` for a text that is not a state of this URL. */
export function parseState(text: string, url: string): FeedState | undefined {
  const value = tryJson(text)
  return isState(value) && value.url === url ? value : undefined
}

function isState(value: unknown): value is FeedState {
  if (!isRecord(value)) return false
  const { url, failures, current, previous } = value
  const generations = [current, previous].filter((generation) => generation !== undefined)
  return typeof url === 'string' && typeof failures === 'number' && generations.every(isGeneration)
}

function isGeneration(value: unknown): value is Generation {
  if (!isRecord(value)) return false
  const { id, size, entries, made, taken } = value
  return /^[0-9a-f]{16}$/.test(String(id)) && [size, entries, made, taken].every((number) => typeof number === 'number')
}
