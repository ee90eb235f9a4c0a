import type { Address } from '@sallyport/core'
import type { Settings } from '#settings'

/** One place that may hold an address, and what is there of it. */
export interface KnownPlace {
  readonly place: string
  /** A file or the kind of a server; never its password. */
  readonly where: string
  /**
   * `read`: all of it was looked at. `absent`: there is none. `unreachable`: it did not answer. `elsewhere`: what it holds cannot
   * be read from here, for the reason that is given.
   */
  readonly state: 'read' | 'absent' | 'unreachable' | 'elsewhere'
  readonly reason?: string | undefined
  /** For how long it is kept. */
  readonly kept: string
  readonly entries: readonly unknown[]
}

/** The outcome of an erasure in one place. */
export interface ErasedPlace {
  readonly place: string
  readonly where: string
  readonly state: 'erased' | 'absent' | 'unreachable' | 'kept'
  /** Reason of `unreachable` and `kept`. */
  readonly reason?: string | undefined
  readonly erased: number
}

/** A place as both commands ask it. */
export interface PrivacyPlace {
  readonly place: string
  readonly where: string
  readonly kept: string
  /** Whether there is such a place. */
  exists(): boolean
  find(address: Address, text: string): Promise<FoundEntries>
  erase(address: Address, text: string): Promise<Erased>
}

export type FoundEntries = Pick<KnownPlace, 'entries'> & { readonly elsewhere?: string | undefined }
export type Erased = Pick<ErasedPlace, 'erased'> & { readonly stays?: string | undefined }

/** Makes the places of a configuration. */
export type PlacesOf = (config: Settings) => readonly PrivacyPlace[]

export function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
