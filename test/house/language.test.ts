import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { tracked } from '../documents/fences.ts'
import { ROOT } from '../workspaces.ts'
import { hasVerb } from './verbs.ts'

/*
 * Functions are verbs and comments are sentences (.github/CONTRIBUTING.md, "Words"). What is left of an older style is counted, and
 * these figures only fall.
 */

interface Debt {
  /** Counts functions whose names end with `Of`. */
  readonly of: number
  /** Counts comments of three words or more without a verb. */
  readonly verbless: number
}

const BUDGETS: Readonly<Record<'sources' | 'tests', Debt>> = {
  sources: { of: 2, verbless: 0 },
  tests: { of: 0, verbless: 0 },
}

const FEWEST_WORDS = 3
const DIRECTIVE = /^(?:biome-ignore|@ts-|#|eslint|<reference|v8 ignore|istanbul|prettier)/

/** Names the budget of a path. Code moves between packages, and its style moves with it. */
function budgetName(path: string): keyof typeof BUDGETS {
  return /(?:^|\/)(?:test|bench)\//.test(path) ? 'tests' : 'sources'
}

/** Lists the names of functions, also of those that a constant holds. */
function listFunctions(file: ts.SourceFile): readonly string[] {
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    const isFunction = ts.isFunctionDeclaration(node)
    const isHeld =
      ts.isVariableDeclaration(node) &&
      node.initializer !== undefined &&
      (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer))
    if ((isFunction || isHeld) && node.name !== undefined && ts.isIdentifier(node.name)) names.push(node.name.text)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return names
}

/** Lists the comments of a file without their marks and tags. Lines with `//` below each other are one comment. */
function listComments(file: ts.SourceFile): readonly string[] {
  const { text } = file
  const ranges = new Map<number, ts.CommentRange>()
  const visit = (node: ts.Node): void => {
    const found = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ]
    for (const range of found) ranges.set(range.pos, range)
    ts.forEachChild(node, visit)
  }
  visit(file)
  visit(file.endOfFileToken)
  const comments: string[] = []
  let end = -1
  for (const range of [...ranges.values()].sort((one, other) => one.pos - other.pos)) {
    const body = text.slice(range.pos, range.end).replaceAll(/^\s*(?:\/\*\*?|\/\/+|\*(?!\/))|\*\/$/gm, '')
    const isNext = text.startsWith('//', range.pos) && end > 0 && text.slice(end, range.pos).trim() === ''
    if (isNext) comments.push(`${comments.pop() ?? ''}\n${body}`)
    else comments.push(body)
    end = text.startsWith('//', range.pos) ? range.end : -1
  }
  return comments.map((comment) => comment.replace(/^\s*@\w+[\s\S]*/m, '').trim())
}

function isVerbless(comment: string): boolean {
  if (DIRECTIVE.test(comment)) return false
  const words = comment.match(/[A-Za-z][\w'-]*/g) ?? []
  return words.length >= FEWEST_WORDS && !hasVerb(comment)
}

function parseFile(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
}

t.test('names and comments are found and judged', async (t) => {
  const file = parseFile(
    'x.ts',
    [
      '/** The head of a request, in bytes. */',
      'export function sizeOf() {}',
      '// One line,\n// which goes on here.',
      'const nameOf = () => "// no comment", size = 1 // a trailing one of four words',
      '/**\n * Returns the size.\n *\n * @example an old one of words\n */',
      'function readSize() {}',
      '// biome-ignore lint/style: no words of ours',
      'const shortOf = 2 // two words',
    ].join('\n'),
  )
  t.same(
    listFunctions(file).filter((name) => name.endsWith('Of')),
    ['sizeOf', 'nameOf'],
  )
  t.same(listComments(file).filter(isVerbless), ['The head of a request, in bytes.', 'a trailing one of four words'])
  for (const text of ['Counts requests.', 'A request that exceeds a limit.', 'Cached, because names change the order.'])
    t.ok(hasVerb(text), text)
  for (const text of ['The answers of a host, in their order.', 'Ids of a new kind']) t.notOk(hasVerb(text), text)
})

t.test('functions named after what they are of, and comments without a verb, only become fewer', async (t) => {
  const found = { sources: { of: 0, verbless: 0 }, tests: { of: 0, verbless: 0 } }
  const files = tracked('*.ts', '*.tsx').filter((path) => !path.startsWith('examples/'))
  t.ok(files.length > 400, `${files.length} files are read`)
  for (const path of files) {
    const file = parseFile(path, readFileSync(join(ROOT, path), 'utf8'))
    const debt = found[budgetName(path)]
    debt.of += listFunctions(file).filter((name) => /[a-z]Of$/.test(name)).length
    debt.verbless += listComments(file).filter(isVerbless).length
  }
  for (const name of ['sources', 'tests'] as const) {
    const { of, verbless } = BUDGETS[name]
    t.ok(found[name].of <= of, `${name}: ${found[name].of} functions named …Of; ${of} at most`)
    t.ok(
      found[name].verbless <= verbless,
      `${name}: ${found[name].verbless} comments without a verb; ${verbless} at most`,
    )
  }
})
