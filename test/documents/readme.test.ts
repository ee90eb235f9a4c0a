import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCatalogue, LIMIT_PRESET_NAMES, PRESET_NAMES } from '@sallyport/core'
import { DATED_RANGES } from '@sallyport/data/crawlers'
import { SOURCES } from '@sallyport/data/sources'
import { TRUSTED_PROXIES } from '@sallyport/data/trusted-proxies'
import type { EvidenceJson } from '@sallyport/ledger'
import t from 'tap'
import { ROOT } from '../workspaces.ts'

/* What the documents count and name is read off the code, so that neither can move alone; tables are in tables.test.ts. */
const DOCS = 'packages/sallyport/docs'
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

t.test('presets of policies and of trusted proxies are named', async (t) => {
  const text = textOf(`${DOCS}/policy.md`) + textOf(`${DOCS}/decision.md`)
  for (const name of [...PRESET_NAMES, ...LIMIT_PRESET_NAMES, ...TRUSTED_PROXIES.map(({ preset }) => preset)])
    t.ok(text.includes(`\`${name}\``), name)
})

t.test('the README can be read in one sitting', async (t) => {
  t.ok(README.trimEnd().split('\n').length <= 350)
})

/** The decisions of a text like DECISIONS.md, in order. */
function decisionsOf(text: string): readonly string[] {
  return [...text.matchAll(/^- \*\*(D\d+) /gm)].map((match) => match[1] ?? '')
}

/** The decisions that a text cites. A number with a hyphen or a digit beside it is something else: an id, a hash. */
function citedIn(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w#-])D\d{1,3}(?![\w-])/g)].map(([name]) => name)
}

const DECISIONS = readFileSync(join(ROOT, '.github/DECISIONS.md'), 'utf8')

t.test('decisions and citations are found', async (t) => {
  t.same(decisionsOf('## Core\n- **D1 One.** Text: see D2.\n- **D34 Two**, text\n  - **D5 no**\n'), ['D1', 'D34'])
  t.same(citedIn('// As decided (D41), D7: and D8. Not AD9, D1000, 0xD1, FD12 or D3-4.'), ['D41', 'D7', 'D8'])
})

t.test('a number is given to one decision only', async (t) => {
  const names = decisionsOf(DECISIONS)
  t.ok(names.length > 50)
  t.same(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})

t.test('a decision has at most six lines', async (t) => {
  const entries = DECISIONS.split(/\n(?=- |\n|$)/).filter((text) => text.startsWith('- '))
  t.equal(entries.length, decisionsOf(DECISIONS).length)
  t.same(
    entries.filter((text) => text.split('\n').length > 6),
    [],
  )
})

t.test('a decision that is cited anywhere exists', async (t) => {
  const decided = new Set(decisionsOf(DECISIONS))
  const texts = [...citingFiles()].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
  const cited = texts.flatMap(({ path, text }) => citedIn(text).map((name) => ({ path, name })))
  t.ok(cited.some(({ path }) => path.startsWith('bench/')) && cited.some(({ path }) => path.endsWith('.md')))
  t.same(
    cited.filter(({ name }) => !decided.has(name)),
    [],
  )
})

/** All that people read: texts, and every source, test and bench. */
function citingFiles(): readonly string[] {
  const texts = ['README.md', 'CHANGELOG.md', '.github/CONTRIBUTING.md', '.github/DECISIONS.md', 'bench/README.md']
  const folders = ['packages', 'adapters'].flatMap((floor) =>
    readdirSync(join(ROOT, floor)).flatMap((room) => [`${floor}/${room}/src`, `${floor}/${room}/test`]),
  )
  const sources = [...folders, 'data', 'examples', 'bench', 'test']
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(name))
        .map((name) => `${folder}/${name}`),
    )
  return [...texts, ...sources.filter((path) => path !== 'test/documents/readme.test.ts')]
}

t.test('the documents show every member of a record and of evidence', async (t) => {
  const text = readFileSync(join(ROOT, DOCS, 'evidence.md'), 'utf8')
  const vectors: readonly { readonly evidence: EvidenceJson }[] = JSON.parse(
    readFileSync(join(ROOT, 'test/evidence/evidence-vectors.json'), 'utf8'),
  )
  const records = vectors.flatMap(({ evidence }) =>
    evidence.records.map(({ dsse }) => JSON.parse(Buffer.from(dsse.payload, 'base64').toString())),
  )
  const shown: object = JSON.parse(text.split('```json\n')[1]?.split('```')[0] ?? '{}')
  t.same([...new Set(records.flatMap(memberPaths))].sort(), [...memberPaths(shown)].sort())
  const section = text.split('## Evidence\n')[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| (`.+?`) \|/gm)].map((match) => match[1] ?? '')
  const named = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map((match) => match[1]))
  t.same(named.sort(), [...new Set(vectors.flatMap(({ evidence }) => Object.keys(evidence)))].sort())
})

/** `a.b` for each leaf. */
function memberPaths(value: object): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' ? memberPaths(member).map((path) => `${name}.${path}`) : [name],
  )
}

/** A document, whatever its line breaks. */
function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').replaceAll(/\s+/g, ' ')
}

t.test('as many crawlers are in the catalogue as it says, and as many can be checked', async (t) => {
  const { crawlers } = createCatalogue()
  const sent = crawlers.filter(({ silent }) => silent === undefined)
  const checked = sent.filter(
    ({ ranges, exclusive, names, agent }) =>
      ranges !== undefined || exclusive || names.length > 0 || agent !== undefined,
  )
  const says = textOf(`${DOCS}/crawlers.md`) + textOf(`${DOCS}/sources.md`)
  for (const sentence of [
    `prints the catalogue: ${crawlers.length} crawlers and agents`,
    `For ${checked.length} there is something, for ${sent.length - checked.length} nothing but the name is known, and ${crawlers.length - sent.length} names are never sent.`,
    `\`data/crawlers.json\`: ${crawlers.length} crawlers and agents`,
    `well-known prefixes of ${DATED_RANGES.length} lists`,
  ]) {
    t.ok(says.includes(sentence), sentence)
  }
})

t.test('as many feeds are on by themselves as it says', async (t) => {
  const on = SOURCES.filter(({ enabled, refreshHours }) => enabled && refreshHours !== undefined)
  const says = textOf(`${DOCS}/sources.md`)
  const counts = `${on.length} feeds by default, ${SOURCES.filter(({ enabled }) => !enabled).length} more sources`
  t.ok(says.includes(counts) && README.includes(counts), counts)
  t.ok(says.includes(`${on.filter(({ kind }) => kind === 'crawler').length} lists that their operators publish`))
})
