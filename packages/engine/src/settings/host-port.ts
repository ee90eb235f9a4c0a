/** `host:port`, as the schema has checked it; the host without its brackets. */
export function parseHostPort(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':')
  return { host: text.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(text.slice(colon + 1)) }
}
