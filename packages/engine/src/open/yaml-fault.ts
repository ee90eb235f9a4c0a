import type { YAMLParseError } from 'yaml'

/** The fault of a text, in words that follow its place. Where it holds several documents the library's are for programmers. */
export function yamlFault({ code, message, linePos }: YAMLParseError): string {
  if (code !== 'MULTIPLE_DOCS') return message.trimEnd()
  return `a second document begins in line ${linePos?.[0].line}, and one is read: remove that line`
}
