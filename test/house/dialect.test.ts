import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { ROOT } from '../workspaces.ts'

/* One spelling of each of these (.github/CONTRIBUTING.md, "Words"): a reader learns it once, and the formatter lays it out. */

/** The one file that writes `-readonly`. */
const WRITABLE = 'values/members.ts'

const OPENING =
  /(?:\/\*\*?\s+(?:\* )?|(?<!^[ \t]*\/\/[^\n]*\n[ \t]*)(?<![:'"`/])\/\/ )(?:Of|Who|Whom|Whose|What|Where)\b[^\n]*/gm

function literalIn({ expression }: ts.SpreadAssignment | ts.SpreadElement): boolean {
  const literal = ts.isParenthesizedExpression(expression) ? expression.expression : expression
  return ts.isObjectLiteralExpression(literal) || ts.isArrayLiteralExpression(literal)
}

function admitsUndefined(type: ts.TypeNode): boolean {
  if (ts.isUnionTypeNode(type)) return type.types.some(admitsUndefined)
  const { UndefinedKeyword, UnknownKeyword, AnyKeyword } = ts.SyntaxKind
  return [UndefinedKeyword, UnknownKeyword, AnyKeyword].some((kind) => kind === type.kind)
}

/** The fault in how a node is written, if any. */
function faultOf(node: ts.Node, path: string): string | undefined {
  if ((ts.isSpreadAssignment(node) || ts.isSpreadElement(node)) && literalIn(node)) return 'spreads a literal'
  if (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isMappedTypeNode(node)) {
    const isOptional = node.questionToken?.kind === ts.SyntaxKind.QuestionToken
    if (isOptional && node.type && !admitsUndefined(node.type)) return 'is optional without `| undefined`'
  }
  const isWritable = ts.isMappedTypeNode(node) && node.readonlyToken?.kind === ts.SyntaxKind.MinusToken
  return isWritable && !path.endsWith(WRITABLE) ? 'is not the Writable of core' : undefined
}

function faultsIn(path: string, text: string): readonly string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  const found = [...text.matchAll(OPENING)].map(({ index }) => ({ index, fault: 'begins without its subject' }))
  const visit = (node: ts.Node): void => {
    const fault = faultOf(node, path)
    if (fault !== undefined) found.push({ index: node.getStart(file), fault })
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found.map(({ index, fault }) => `${path}:${file.getLineAndCharacterOfPosition(index).line + 1} ${fault}`)
}

t.test('each fault is found', async (t) => {
  const text = [
    'const a = { ...{ b, c }, d }, e = [...[f]], g = { ...h }',
    'interface I { a?: string; b?: string | undefined; c?(): void; d?: unknown }',
    'type W<T> = { -readonly [K in keyof T]: T[K] }',
    '/** What it is. */',
    '/*\n * Of them.\n */',
    '// Where it is.\n// Who goes on.',
    "const url = 'https://x' // What else",
    '/** The rest. What it is. */',
  ].join('\n')
  const lines = faultsIn('x.ts', text).map((fault) => fault.replace('x.ts:', ''))
  t.same(lines.sort(), [
    '1 spreads a literal',
    '1 spreads a literal',
    '10 begins without its subject',
    '2 is optional without `| undefined`',
    '3 is not the Writable of core',
    '4 begins without its subject',
    '5 begins without its subject',
    '8 begins without its subject',
  ])
})

t.test('sources and tests are written in one dialect', async (t) => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: ROOT, encoding: 'utf8' }).split('\n')
  // The examples of faults above are this file's own.
  const read = files.filter((path) => path !== '' && path !== 'test/house/dialect.test.ts')
  t.ok(read.length > 400, `${read.length} files are read`)
  t.same(
    read.flatMap((path) => faultsIn(path, readFileSync(join(ROOT, path), 'utf8'))),
    [],
  )
})

t.test('a proxy of a test is not shed when the machine is late', async (t) => {
  // Processes of tests run side by side; the tests of shedding set a bound of their own.
  const files = execFileSync('git', ['ls-files', 'test/*.ts', 'adapters/*/test/*.ts', 'packages/*/test/*.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const opening = files
    .split('\n')
    .filter((path) => path && /\bopenProxy\(/.test(readFileSync(join(ROOT, path), 'utf8')))
  t.ok(opening.length > 20, `${opening.length} files are read`)
  t.same(
    opening.filter((path) => !/eventLoopDelay|proxyBefore/.test(readFileSync(join(ROOT, path), 'utf8'))),
    ['test/packaging/types.ts'],
    'but for one that is compiled alone',
  )
})

t.test('a file of tests sets no time for the others of its process', async (t) => {
  const files = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  t.same(
    files.filter((path) => /^t\.setTimeout/m.test(readFileSync(join(ROOT, path), 'utf8'))),
    [],
    'the runner ends what hangs',
  )
})
