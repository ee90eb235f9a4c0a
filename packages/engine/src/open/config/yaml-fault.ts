import { type Document, visit, type YAMLError } from 'yaml'

/** Words for faults of which the library speaks to programmers, or which people make most often, by its codes. */
const WORDS: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  MULTIPLE_DOCS: 'a second document begins here (---): a file holds one',
  DUPLICATE_KEY: 'this key is there twice',
  TAB_AS_INDENT: 'the line begins with a tab: indent with spaces',
  BAD_INDENT: 'the line is indented otherwise than those it belongs to, or a bracket before it is not closed',
  BLOCK_AS_IMPLICIT_KEY: 'a value holds a colon as a key does: put it in quotes, or the key on its own line',
  MULTILINE_IMPLICIT_KEY: 'a key is on one line, with a colon and a space after it',
  MISSING_CHAR: 'a quote or a bracket before this is not closed',
  UNEXPECTED_TOKEN: 'this does not belong to what is above it',
  BAD_SCALAR_START: 'a value cannot begin with this character: put it in quotes',
}

/** The first fault of a text as YAML: its offset, and one sentence without the library's picture of the line. */
export function yamlFault(document: Document): readonly [offset: number, message: string] | undefined {
  const [fault] = (document as Document.Parsed).errors
  if (fault !== undefined) return [fault.pos[0], WORDS[fault.code] ?? sentenceOf(fault.message)]
  let unresolved: readonly [number, string] | undefined
  visit(document, {
    Alias(_, alias, path) {
      const { source, range } = alias
      const target = alias.resolve(document)
      if (target !== undefined && !path.includes(target)) return undefined
      const why = target === undefined ? `stands for nothing: no &${source} is before it` : 'stands for what it is in'
      unresolved = [range?.[0] ?? 0, `*${source} ${why}`]
      return visit.BREAK
    },
  })
  return unresolved
}

/** The first line of a message, as a part of a sentence of ours. */
function sentenceOf(message: string): string {
  const [line = message] = message.split('\n', 1)
  return `it is not YAML: ${line.charAt(0).toLowerCase()}${line.slice(1)}`
}
