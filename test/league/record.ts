import type { Row } from './league.ts'

/**
 * One line of JSON for the first request of each visit: the tool, the way it copies a browser, and its fields as the gate
 * received them, of HTTP/2 with the pseudo-headers.
 */
export function recordedLines(rows: readonly Row[]): string {
  return rows
    .flatMap(({ tool, version, way, visit }) => {
      const request = visit?.asked[0]?.request
      if (request === undefined) return []
      const { scheme, httpVersion, fields, ja4, http2Window } = request
      const headers = fields.flatMap((name, index) => (index % 2 === 0 ? [[name, portless(fields[index + 1])]] : []))
      const client = `${tool.name} ${version}`
      return [JSON.stringify({ client, kind: tool.kind, way, scheme, httpVersion, ja4, http2Window, headers })]
    })
    .map((line) => `${line}\n`)
    .join('')
}

/** Removes the port of a gate, which changes with each run. */
function portless(value = ''): string {
  return value.replace(/^localhost:\d+$/, 'localhost')
}
