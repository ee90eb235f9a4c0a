/** Holds the headers of MCP that a request has; `fault` says what is wrong with them. */
export interface McpHeaders {
  /** A header shows that the request is an MCP request. */
  readonly isMarked: boolean
  readonly version?: string | undefined
  readonly method?: string | undefined
  /** The name is decoded. */
  readonly name?: string | undefined
  readonly fault?: string | undefined
}

const READ = { 'mcp-protocol-version': 'version', 'mcp-method': 'method', 'mcp-name': 'name' } as const

/** Servers from this version on compare headers and body. */
const COMPARED_SINCE = '2026-07-28'

/** Matches visible ASCII, space and tab (RFC 9110 section 5.5). */
const VALUE = /^[\t\x20-\x7e]*$/

/** Reads the headers of MCP from raw fields (name, value, name, value …): Streamable HTTP of 2026-07-28, "Request Metadata". */
export function readMcpHeaders(fields: readonly string[]): McpHeaders {
  const found: { -readonly [Member in (typeof READ)[keyof typeof READ]]?: string } = {}
  let isMarked = false
  let fault: string | undefined
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const field = (fields[at] as string).toLowerCase()
    if (!field.startsWith('mcp-')) continue
    isMarked = true
    const member = Object.hasOwn(READ, field) ? READ[field as keyof typeof READ] : undefined
    if (member === undefined) continue
    const value = (fields[at + 1] as string).trim()
    if (found[member] !== undefined) fault ??= `${field} comes twice`
    if (!VALUE.test(value)) fault ??= `${field} has characters that no header may have`
    found[member] = value
  }
  const name = found.name === undefined ? undefined : decodeName(found.name)
  if (found.name !== undefined && name === undefined) fault ??= 'mcp-name is not Base64 of UTF-8'
  return { ...found, name, isMarked, fault }
}

/** Reports whether servers of the version refuse headers that disagree with the body. */
export function comparesHeaders(version: string | undefined): boolean {
  return version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && version >= COMPARED_SINCE
}

/** Decodes a plain name, or the Base64 of its UTF-8 between markers; returns `undefined` where that is malformed. */
function decodeName(value: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? []
  if (encoded === undefined) return value
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return undefined
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : undefined
}
