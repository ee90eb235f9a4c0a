import { type Document, LineCounter, type Node, parseDocument, visit, type YAMLError } from 'yaml'

const INDENT = 'the indentation of this line does not match the surrounding lines'
const BRACKET = 'an earlier bracket is not closed, or a line inside it is not indented'
const COMMA = 'a comma or closing bracket is missing before this'

/** Explains frequent faults by the beginning of the library's message, which is for programmers: one of its codes covers several faults. */
const WORDS: readonly (readonly [beginning: string, words: string])[] = [
  ['Source contains multiple documents', 'a second document begins here (---), but a file may contain only one'],
  ['Map keys must be unique', 'this key occurs twice'],
  ['Tabs are not allowed as indentation', 'the line begins with a tab. Indent with spaces'],
  ['All sequence items must start at the same column', INDENT],
  ['All mapping items must start at the same column', INDENT],
  ['A block sequence may not be used as an implicit map key', INDENT],
  ['Sequence item without - indicator', INDENT],
  ['Unexpected block-seq-ind on same line', 'a list must begin on the line after its key'],
  ['Flow map in block collection must be', BRACKET],
  ['Flow sequence in block collection must be', BRACKET],
  ['Flow end indicator should be more indented', BRACKET],
  [
    'Nested mappings are not allowed in compact mappings',
    'a colon follows the value. Quote the value, or indent the next line like this line',
  ],
  ['Implicit keys need to be on a single line', 'a key needs a colon and a space after it, on one line'],
  ['Implicit map keys need to be followed by map values', 'a key needs a colon and a space after it'],
  ['Missing closing', 'an earlier quote is not closed'],
  ['Missing , ', COMMA],
  ['Block collections are not allowed within flow', COMMA],
  ['Unexpected scalar', 'this is unexpected after the preceding value'],
  ['Plain value cannot start with', 'a value cannot begin with this character. Quote the value'],
]

type Fault = readonly [offset: number, message: string]

/** Parses a text in YAML; `fault` is its first fault, or what `findRefused` finds that the text may not hold. */
export function parseYaml(text: string, findRefused: (document: Document) => Fault | undefined = () => undefined) {
  const lines = new LineCounter()
  // The library's own errors show the lines around them.
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, logLevel: 'error' })
  const findLine = (offset: number): number => lines.linePos(offset).line
  const found = findFault(document) ?? findRefused(document)
  return { document, findLine, fault: found && { line: findLine(found[0]), message: found[1] } }
}

/** Finds the first fault, in one sentence without the library's picture of the line. */
function findFault(document: Document): Fault | undefined {
  const [fault] = (document as Document.Parsed).errors
  if (fault !== undefined) return [fault.pos[0], wordsFor(fault) ?? writeSentence(fault.message)]
  let unresolved: Fault | undefined
  // The map avoids a search: the library looks through the whole document for each alias.
  const anchors = new Map<string, Node>()
  visit(document, {
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Alias(_, { source, range }, path) {
      const target = anchors.get(source)
      if (target !== undefined && !path.includes(target)) return undefined
      const why = target === undefined ? `has no &${source} before it` : 'refers to its own node'
      unresolved = [range?.[0] ?? 0, `*${source} ${why}`]
      return visit.BREAK
    },
  })
  return unresolved
}

function wordsFor({ message }: YAMLError): string | undefined {
  return WORDS.find(([beginning]) => message.startsWith(beginning))?.[1]
}

function writeSentence(message: string): string {
  const [line = message] = message.split(/ at line \d|\n/, 1)
  return `the file is not valid YAML: ${line.charAt(0).toLowerCase()}${line.slice(1)}`
}
