import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { tracked } from '../documents/fences.ts'
import { ROOT } from '../workspaces.ts'
import { hasVerb } from './verbs.ts'

/* Functions are verbs and comments are sentences (.github/CONTRIBUTING.md, "Words"). */

const FEWEST_WORDS = 3
const DIRECTIVE = /^(?:biome-ignore|@ts-|#|eslint|<reference|v8 ignore|istanbul|prettier)/

interface Words {
  readonly functions: readonly string[]
  /** Comments without their marks and tags. Lines with `//` below each other are one comment. */
  readonly comments: readonly string[]
}

function readWords(text: string, path = 'x.ts'): Words {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  const functions: string[] = []
  const ranges = new Map<number, ts.CommentRange>()
  const visit = (node: ts.Node): void => {
    const held = ts.isVariableDeclaration(node) ? node.initializer : undefined
    const isHeld = held !== undefined && (ts.isArrowFunction(held) || ts.isFunctionExpression(held))
    if (isHeld || ts.isFunctionDeclaration(node)) functions.push(String((node as ts.FunctionDeclaration).name?.text))
    const leading = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []
    const trailing = ts.getTrailingCommentRanges(text, node.end) ?? []
    for (const range of [...leading, ...trailing]) ranges.set(range.pos, range)
    ts.forEachChild(node, visit)
  }
  visit(file)
  visit(file.endOfFileToken)
  const sorted = [...ranges.values()].sort((one, other) => one.pos - other.pos)
  const comments = sorted.map(({ pos, end, kind }, at) => {
    const before = sorted[at - 1]
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia
    const isNext = isLine && before?.kind === kind && text.slice(before.end, pos).trim() === ''
    return `${isNext ? '' : '\0'}${text.slice(pos, end).replaceAll(/^\s*(?:\/\*\*?|\/\/+|\*(?!\/))|\*\/$/gm, '')}`
  })
  const whole = comments.join('\n').split('\0').slice(1)
  return { functions, comments: whole.map((comment) => comment.replace(/^\s*@\w+[\s\S]*/m, '').trim()) }
}

function isVerbless(comment: string): boolean {
  const words = comment.match(/[A-Za-z][\w'-]*/g) ?? []
  return !DIRECTIVE.test(comment) && words.length >= FEWEST_WORDS && !hasVerb(comment)
}

t.test('names and comments are found and judged', async (t) => {
  const { functions, comments } = readWords(`/** The head of a request, in bytes. */
export function sizeOf() {}
// One line,
// which goes on here.
const nameOf = () => "// no comment", size = 1 // a trailing one of four words
/**
 * Returns the size.
 *
 * @example an old one of words
 */
function readSize() {}
// biome-ignore lint/style: no words of ours
const shortOf = 2 // two words
`)
  t.same(functions, ['sizeOf', 'nameOf', 'readSize'])
  t.equal(comments.length, 6)
  t.same(comments.filter(isVerbless), ['The head of a request, in bytes.', 'a trailing one of four words'])
  for (const text of ['Counts requests.', 'A request that exceeds a limit.', 'Cached, because names change the order.'])
    t.ok(hasVerb(text), text)
  for (const text of ['The answers of a host, in their order.', 'Ids of a new kind']) t.notOk(hasVerb(text), text)
})

t.test('functions are not named after what they are of, and every comment has a verb', async (t) => {
  const files = tracked('*.ts', '*.tsx').filter((path) => !path.startsWith('examples/'))
  t.ok(files.length > 400, `${files.length} files are read`)
  const named: string[] = []
  const verbless: string[] = []
  for (const path of files) {
    const { functions, comments } = readWords(readFileSync(join(ROOT, path), 'utf8'), path)
    named.push(...functions.filter((name) => /[a-z]Of$/.test(name)).map((name) => `${path}: ${name}`))
    verbless.push(...comments.filter(isVerbless).map((comment) => `${path}: ${comment}`))
  }
  t.same([named, verbless], [[], []])
})
