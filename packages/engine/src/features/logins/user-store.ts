/** Keeps one text for each user, under a keyed hash of its name, for any number of processes. Rejects when it cannot answer. */
export interface UserStore {
  /** Returns the text of a key; what has expired is not found. */
  read(key: string): Promise<string | undefined>
  /** Writes `next` if the text still is `before`, and reports whether it was; `until` is in milliseconds since the epoch. */
  replace(key: string, before: string | undefined, next: string, until: number): Promise<boolean>
  /** Reports whether there was a text. */
  erase(key: string): Promise<boolean>
  close(): Promise<void>
}

/** Expired texts that a write deletes beside its own. */
export const PURGED = 10
