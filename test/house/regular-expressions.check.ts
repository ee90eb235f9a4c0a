import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SOURCES } from '@sallyport/data/sources'
import { WHOIS_FORMATS } from '@sallyport/data/whois-formats'
import { isSafe } from 'redos-detector'
import t from 'tap'
import ts from 'typescript'
import { tracked } from '../documents/fences.ts'
import { ROOT } from '../workspaces.ts'

/* A regular expression that can backtrack lets one request hold the process. */

/** Expressions that the tool cannot prove, below `packages`, and what bounds them; texts of visitors are cut to a length. */
const BOUNDED: Readonly<Record<string, string>> = {
  'adapters/node/src/request/mounted-path.ts /\\/+$/': 'reads the configured base, at start',
  'engine/src/api/router.ts /\\{[^}]*\\}/g': 'reads our own route table, at start',
  'engine/src/whois/dates.ts built': 'reads 80 characters',
  'engine/src/whois/partial-record.ts / ?\\( ?(?:R\\d+-[A-Z]+|https?:[^)]*)\\)$/': 'reads one value, cut first',
  'engine/src/whois/lines.ts /[.\\s]{1,64}$/': 'takes 64 steps at most from each place',
  'engine/src/whois/lines.ts /\\([^)]{0,60}\\)/g': 'takes 60 steps at most from each place',
  'engine/src/whois/lines.ts FURTHER': 'takes 32 steps at most from each place of a line',
  'engine/src/whois/date-order.ts NUMBERED': 'reads 80 characters',
  'engine/src/whois/wordings.ts /^["\'“‘`<]+|["\'”’`>.!]+$/g': 'reads 160 characters',
  'engine/src/whois/wordings.ts CONDITION': 'has words to choose from, and nothing that repeats',
  'engine/src/datasets/feeds/unpack.ts /\\0.*$/s': 'reads a field of an archive’s header, 100 bytes at most',
  'engine/src/features/bans/exported-ban.ts CLIENT': 'reads the key of a ban of ours, an address and a length',
  'engine/src/features/lists/go-duration.ts PART': 'sticky, 31 characters at most from each place',
  'core/src/agent/user-agent-forms.ts MODEL': 'takes 15 steps at most from each place of a user agent',
  'core/src/agent/user-agent-forms.ts LINK_ALONE': 'takes 600 steps at most from each bracket of a user agent',
  'core/src/agent/user-agent-forms.ts CRAWLERS_COMMENT': 'takes 400 steps at most from each name of a user agent',
  'core/src/behaviour/traits.ts DELETES': 'takes 80 steps at most from each place of a cookie',
  'core/src/lists/address-line.ts WRITTEN': 'reads one word, with bounds for each of its parts',
  'core/src/lists/address-line.ts /comment': 'takes 500 steps at most from each word of a line',
  'core/src/lists/address-line.ts WHOLE_RANGE': 'begins at the start of a line, with bounds for each part',
  'core/src/lists/address-line.ts PERMITS': 'takes 20 steps at most from each place of a line',
  'core/src/lists/agent-line.ts PROGRAM_LINE': 'has one way to read each character of a line',
  'core/src/lists/agent-line.ts COMPARES': 'takes 40 steps at most from each place of a line',
  'core/src/lists/agent-line.ts OTHER_LINE': 'has words to choose from, and nothing that repeats',
  'ledger/src/timestamp/timestamps.ts PEM': 'reads a file that the operator names',
  'core/src/region/names.ts KINDS': 'has words to choose from, and nothing that repeats',
  'core/src/address/forwarding.ts PARAMETER': 'has one way to read each character of a bounded header',
}

type Expression = Readonly<{ place: string; expression: RegExp }>

/** The names of groups are not of the tool's grammar, and change nothing. */
function compileExpression(pattern: string, flags = ''): RegExp {
  return new RegExp(pattern.replaceAll(/\(\?<(?![=!])\w+>/g, '('), flags)
}

/** The expressions that a file writes down or builds of its own texts, and where it builds one of anything else. */
function readSource(file: string) {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true)
  const name = file.replace('packages/', '')
  const expressions: Expression[] = []
  const ofOther: string[] = []
  const texts = new Map<string, string>()
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined) {
      const text = readText(node.initializer, texts)
      if (text !== undefined) texts.set(node.name.getText(), text)
    }
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      const named = ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : node.text
      const expression = compileExpression(node.text.slice(1, end), node.text.slice(end + 1))
      expressions.push({ place: `${name} ${named}`, expression })
    }
    const called = ts.isNewExpression(node) || ts.isCallExpression(node)
    if (called && node.expression.getText() === 'RegExp') {
      const [pattern, flags] = (node.arguments ?? []).map((argument) => readText(argument, texts))
      if (pattern === undefined) ofOther.push(name)
      else expressions.push({ place: `${name} built`, expression: compileExpression(pattern, flags) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { expressions, ofOther }
}

/** The text that an expression of TypeScript stands for, as far as it is written in the same file. */
function readText(node: ts.Node, texts: ReadonlyMap<string, string>): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isIdentifier(node)) return texts.get(node.text)
  if (!ts.isTaggedTemplateExpression(node) || node.tag.getText() !== 'String.raw') return undefined
  if (!ts.isTemplateExpression(node.template)) return node.template.rawText ?? node.template.text
  const { head, templateSpans } = node.template
  const parts = templateSpans.map(({ expression, literal }) => {
    const text = readText(expression, texts)
    return text === undefined ? undefined : text + (literal.rawText ?? literal.text)
  })
  return parts.includes(undefined) ? undefined : (head.rawText ?? head.text) + parts.join('')
}

/** Files whose expressions are built of parts outside of them, and those parts. */
const BUILT_OF: Readonly<Record<string, string>> = {
  'core/src/policy/language/expression.ts': 'patterns of a policy, which go to V8 only where their shape is harmless',
  'engine/src/accounts/key.ts': 'our own constants: classes of characters, each so many times',
  'engine/src/datasets/compile/city.ts': 'the id of a source, which is a plain word',
  'engine/src/datasets/feeds/pull.ts': 'the links of data/sources.json: see below',
  'engine/src/whois/wordings.ts': 'the wordings of data/whois-formats.json: see below',
}

const files = tracked('packages/*/src/*.ts', 'adapters/*/src/*.ts')

// The check takes half a minute on a quiet machine.
t.setTimeout(600_000)

t.test('no shipped regular expression can backtrack', async (t) => {
  const read = files.map(readSource)
  const expressions = read.flatMap(({ expressions }) => expressions)
  t.ok(expressions.length > 20, `${expressions.length} of them`)
  t.ok(expressions.some(({ place }) => place.endsWith(' built')))
  const built = read.flatMap(({ ofOther }) => ofOther).sort()
  t.same(built, Object.keys(BUILT_OF), 'and every other one is built of what is looked at')
  const safe = ({ expression }: Expression) => isSafe(expression, { maxSteps: 5_000, downgradePattern: true }).safe
  const doubtful = expressions.filter((one) => !safe(one)).map(({ place }) => place)
  const unbound = doubtful.filter((place) => !Object.keys(BOUNDED).some((bounded) => place.startsWith(bounded)))
  t.same(unbound, [])
  const needless = Object.keys(BOUNDED).filter((bounded) => !doubtful.some((place) => place.startsWith(bounded)))
  t.same(needless, [], 'nothing is excused that needs no excuse')
  t.notOk(safe({ place: '', expression: /^(a+)+$/ }), 'the test can fail')
})

/** A group, or a class of characters, that repeats without end. */
const ENDLESS_GROUP = /\)(?:[*+]|\{\d+,\})/
const ENDLESS = /[^\\](?:[*+]|\{\d+,\})/

t.test('nor can one that is data: no group repeats without end, and a page is not read twice', async (t) => {
  const wordings = Object.values(WHOIS_FORMATS.wordings).flat()
  // Wordings read 160 characters of one sentence, and links a publisher's whole page.
  const links = SOURCES.flatMap(({ link }) => link ?? [])
  t.ok(wordings.length > 20 && links.length > 0)
  const endless = [...wordings.filter((it) => ENDLESS_GROUP.test(it)), ...links.filter((it) => ENDLESS.test(it))]
  t.same(endless, [])
  t.ok(ENDLESS_GROUP.test('(?:a|b+)+$') && ENDLESS.test('a[^b]+c'), 'the test can fail')
})

t.test('the claim of a user agent is found without one', async (t) => {
  for (const name of ['token-matcher.ts', 'verifier.ts', 'ranges.ts']) {
    t.same(readSource(`packages/core/src/crawler/${name}`).expressions, [], name)
  }
})
