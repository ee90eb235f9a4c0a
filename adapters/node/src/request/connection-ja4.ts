/** On a connection: the JA4 of its client. Known to every copy of this package in a process. */
const JA4: unique symbol = Symbol.for('sallyport.ja4') as never

/** Records the JA4 of a connection, for its requests. */
export function noteJa4(connection: object & { [JA4]?: string | undefined }, ja4: string): void {
  connection[JA4] = ja4
}

/** Returns the JA4 of a connection's other end. */
export function readJa4(connection: object & { readonly [JA4]?: string | undefined }): string | undefined {
  return connection[JA4]
}
