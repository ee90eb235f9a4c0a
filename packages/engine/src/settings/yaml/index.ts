import { type Document, type Node, visit, type YAMLError } from 'yaml'

const INDENT = 'the line is indented otherwise than those it belongs to'
const BRACKET = 'a bracket before this is not closed, or a line within it is not indented'
const COMMA = 'a comma, or the bracket at the end, is missing before this'

/**
 * Words for faults of which the library speaks to programmers, or which people make most often, by the beginning of its message: one
 * of its codes stands for several.
 */
const WORDS: readonly (readonly [beginning: string, words: string])[] = [
  ['Source contains multiple documents', 'a second document begins here (---): a file holds one'],
  ['Map keys must be unique', 'this key is there twice'],
  ['Tabs are not allowed as indentation', 'the line begins with a tab: indent with spaces'],
  ['All sequence items must start at the same column', INDENT],
  ['All mapping items must start at the same column', INDENT],
  ['A block sequence may not be used as an implicit map key', INDENT],
  ['Sequence item without - indicator', INDENT],
  ['Unexpected block-seq-ind on same line', 'a list begins on the line after its key'],
  ['Flow map in block collection must be', BRACKET],
  ['Flow sequence in block collection must be', BRACKET],
  ['Flow end indicator should be more indented', BRACKET],
  [
    'Nested mappings are not allowed in compact mappings',
    'a colon follows the value, as if it were a key: put it in quotes, or indent the next line as this one',
  ],
  ['Implicit keys need to be on a single line', 'a key needs a colon and a space after it, on one line'],
  ['Implicit map keys need to be followed by map values', 'a key needs a colon and a space after it'],
  ['Missing closing', 'a quote before this is not closed'],
  ['Missing , ', COMMA],
  ['Block collections are not allowed within flow', COMMA],
  ['Unexpected scalar', 'this does not belong to what is before it'],
  ['Plain value cannot start with', 'a value cannot begin with this character: put it in quotes'],
]

/** The first fault of a text as YAML: its offset, and one sentence without the library's picture of the line. */
export function yamlFault(document: Document): readonly [offset: number, message: string] | undefined {
  const [fault] = (document as Document.Parsed).errors
  if (fault !== undefined) return [fault.pos[0], wordsFor(fault) ?? sentenceOf(fault.message)]
  let unresolved: readonly [number, string] | undefined
  // Kept here: the library looks through the whole document for each alias.
  const anchors = new Map<string, Node>()
  visit(document, {
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Alias(_, { source, range }, path) {
      const target = anchors.get(source)
      if (target !== undefined && !path.includes(target)) return undefined
      const why = target === undefined ? `stands for nothing: no &${source} is before it` : 'stands for what it is in'
      unresolved = [range?.[0] ?? 0, `*${source} ${why}`]
      return visit.BREAK
    },
  })
  return unresolved
}

function wordsFor({ message }: YAMLError): string | undefined {
  return WORDS.find(([beginning]) => message.startsWith(beginning))?.[1]
}

/** The first line of a message, as a part of a sentence of ours. */
function sentenceOf(message: string): string {
  const [line = message] = message.split(/ at line \d|\n/, 1)
  return `it is not YAML: ${line.charAt(0).toLowerCase()}${line.slice(1)}`
}
