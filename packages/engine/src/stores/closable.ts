/** A store with a file or a connection. After `close`, which may come more than once, its operations reject. */
export interface Closable {
  close(): void
}
