/** On a connection: the JA4 of its client. Known to every copy of this package in a process. */
export const JA4: unique symbol = Symbol.for('sallyport.ja4') as never

/** Records the JA4 of a connection, for its requests. */
export function noteJa4(connection: object & { [JA4]?: string | undefined }, ja4: string): void {
  connection[JA4] = ja4
}
