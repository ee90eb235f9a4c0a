interface Closable {
  close(): Promise<void> | void
}

/** What was opened so far, to be given back in the opposite order: by whoever closes, or where a later opening fails. */
export interface Closing {
  /** Waits for something, remembers it, and hands it on. */
  after<Opened extends Closable>(opening: Opened | Promise<Opened>): Promise<Opened>
  /** Closes everything, the last opened first; once, however often it is called. */
  all(): Promise<void>
}

export function createClosing(): Closing {
  const open: Closable[] = []
  return {
    async after(opening) {
      const opened = await opening
      open.push(opened)
      return opened
    },
    async all() {
      for (let last = open.pop(); last !== undefined; last = open.pop()) await last.close()
    },
  }
}
