import type { Address } from '@sallyport/core'

/** Describes one place that may hold an address, and its entries. */
export interface KnownPlace {
  readonly place: string
  /** Names a file or the kind of a server; never its password. */
  readonly where: string
  /** `elsewhere`: the content cannot be read from here, or only a part of it, for the given reason. */
  readonly state: 'read' | 'absent' | 'unreachable' | 'elsewhere'
  readonly reason?: string | undefined
  /** Says how long entries are kept. */
  readonly kept: string
  readonly entries: readonly unknown[]
}

/** States the outcome of an erasure in one place. */
export interface ErasedPlace {
  readonly place: string
  readonly where: string
  readonly state: 'erased' | 'absent' | 'unreachable' | 'kept'
  /** Explains `unreachable` and `kept`. */
  readonly reason?: string | undefined
  readonly erased: number
}

/** Both commands read such a place. */
export interface PrivacyPlace {
  readonly place: string
  readonly where: string
  readonly kept: string
  /** Reports whether the place exists. */
  exists(): boolean
  find(address: Address, text: string): Promise<Pick<KnownPlace, 'entries'> & { readonly elsewhere?: string }>
  erase(address: Address, text: string): Promise<Pick<ErasedPlace, 'erased'> & { readonly stays?: string | undefined }>
}

export function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
