import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { isSafe } from 'redos-detector'
import t from 'tap'
import ts from 'typescript'

/*
 * A regular expression that can backtrack lets one request hold the process. User agents, paths and policies are matched
 * without any; the few that are shipped are read out of the sources here, and each is proven not to.
 */
const ROOT = join(import.meta.dirname, '../..')

/** Not proven by the tool, with why it is bounded all the same. */
const BOUNDED: Readonly<Record<string, string>> = {
  'adapters/koa/src/index.ts /\\/+$/': 'reads the configured base, at start',
  'packages/api/src/router.ts /\\{[^}]*\\}/g': 'reads our own route table, at start',
  'packages/core/src/whois/': 'reads lines of a registry’s answer, which are cut to a length first, and no request',
  'packages/datasets/src/feeds/unpack.ts /\\0.*$/s': 'reads a field of an archive’s header, 100 bytes at most',
  'packages/core/src/address/forwarding.ts PARAMETER':
    'sticky, with one way to read each character, over what the walk of a header bounds',
}

interface Expression {
  readonly place: string
  readonly expression: RegExp
}

function expressionsOf(file: string): readonly Expression[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: Expression[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      const named = ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : node.text
      // The names of groups are not of the tool's grammar, and change nothing.
      const pattern = node.text.slice(1, end).replaceAll(/\(\?<(?![=!])\w+>/g, '(')
      const expression = new RegExp(pattern, node.text.slice(end + 1))
      found.push({ place: `${relative(ROOT, file)} ${named}`, expression })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const files = ['packages', 'adapters'].flatMap((floor) =>
  readdirSync(join(ROOT, floor)).flatMap((room) => {
    const folder = join(ROOT, floor, room, 'src')
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name))
  }),
)

t.test('no shipped regular expression can backtrack', async (t) => {
  const expressions = files.flatMap(expressionsOf)
  t.ok(expressions.length > 20, `${expressions.length} of them`)
  const safe = ({ expression }: Expression) => isSafe(expression, { maxSteps: 5_000, downgradePattern: true }).safe
  const doubtful = expressions.filter((one) => !safe(one)).map(({ place }) => place)
  t.same(
    doubtful.filter((place) => !Object.keys(BOUNDED).some((bounded) => place.startsWith(bounded))),
    [],
  )
  t.notOk(safe({ place: '', expression: /^(a+)+$/ }), 'the test can fail')
})

t.test('the claim of a user agent is found without one', async (t) => {
  for (const name of ['token-matcher.ts', 'verifier.ts', 'ranges.ts']) {
    t.same(expressionsOf(join(ROOT, 'packages/core/src/crawler', name)), [], name)
  }
})
