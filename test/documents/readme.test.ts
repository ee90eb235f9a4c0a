import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCatalogue, LIMIT_PRESET_NAMES, PRESET_NAMES } from '@sallyport/core'
import { DATED_RANGES } from '@sallyport/data/crawlers'
import { SOURCES } from '@sallyport/data/sources'
import { TRUSTED_PROXIES } from '@sallyport/data/trusted-proxies'
import type { EvidenceJson } from '@sallyport/ledger'
import { commandTable } from 'sallyport/cli'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { documents } from './fences.ts'

/* Counts and names in documents are read off the code, so that neither moves alone; tables are in tables.test.ts. */
const DOCS = 'packages/sallyport/docs'
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

t.test('presets of policies and of trusted proxies are named', async (t) => {
  const text = readText(`${DOCS}/policy.md`) + readText(`${DOCS}/behind.md`)
  for (const name of [...PRESET_NAMES, ...LIMIT_PRESET_NAMES, ...TRUSTED_PROXIES.map(({ preset }) => preset)])
    t.ok(text.includes(`\`${name}\``), name)
})

t.test('the README can be read in one sitting', async (t) => {
  t.ok(README.trimEnd().split('\n').length <= 250)
  t.ok(README.split(/\s+/).length <= 2_000)
})

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
  const section = text.split('### Evidence\n')[1]?.split('\n### ')[0] ?? ''
  const rows = [...section.matchAll(/^\| (`.+?`) \|/gm)].map((match) => match[1] ?? '')
  const named = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map((match) => match[1]))
  t.same(named.sort(), [...new Set(vectors.flatMap(({ evidence }) => Object.keys(evidence)))].sort())
})

/** Returns `a.b` for each leaf. */
function memberPaths(value: object): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' ? memberPaths(member).map((path) => `${name}.${path}`) : [name],
  )
}

/** Reads a document with every run of white space as one space. */
function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').replaceAll(/\s+/g, ' ')
}

t.test('as many crawlers are in the catalogue as it says, and as many can be checked', async (t) => {
  const { crawlers } = createCatalogue()
  const sent = crawlers.filter(({ silent }) => silent === undefined)
  const checked = sent.filter(
    ({ ranges, exclusive, names, agent }) =>
      ranges !== undefined || exclusive || names.length > 0 || agent !== undefined,
  )
  const says = readText(`${DOCS}/crawlers.md`) + readText(`${DOCS}/sources.md`)
  for (const sentence of [
    `prints the catalogue: ${crawlers.length} crawlers and agents`,
    `Of these, ${checked.length} can be verified, ${sent.length - checked.length} are known by name only, and ${crawlers.length - sent.length} never send their name.`,
    `\`data/crawlers.json\`: ${crawlers.length} crawlers and agents`,
    `well-known prefixes of ${DATED_RANGES.length} lists`,
  ]) {
    t.ok(says.includes(sentence), sentence)
  }
})

t.test('as many feeds are on by themselves as it says', async (t) => {
  const on = SOURCES.filter(({ enabled, refreshHours }) => enabled && refreshHours !== undefined)
  const says = readText(`${DOCS}/sources.md`)
  const feeds = `${on.length} feeds by default, ${SOURCES.filter(({ enabled }) => !enabled).length} more sources`
  for (const text of [README, says]) t.ok(text.includes(feeds), feeds)
  t.ok(says.includes(`${on.filter(({ kind }) => kind === 'crawler').length} lists that their operators publish`))
})

/** Histories name commands as they were. */
const HISTORIES = ['CHANGELOG.md', '.github/DECISIONS.md']

/** The commands that a document shows, in a line of a block or in a sentence, without `npx sallyport`. */
function commandsIn(text: string): readonly string[] {
  const shown = [...text.matchAll(/^(?:npx )?sallyport (.+)$/gm), ...text.matchAll(/`(?:npx )?sallyport ([^`\n\\]+)`/g)]
  return shown.map(([, command = '']) => command.replace(/ [#|>&].*$/, '').trim())
}

t.test('every command in a document is one, with options that it has', async (t) => {
  const rows = commandTable().map(({ usage, options }) => ({
    name: usage.replace(/ [<[].*$/, ''),
    flags: options.flatMap((option) => option.flags.split(/[ ,]+/).filter((word) => word.startsWith('-'))),
  }))
  const wrong: string[] = []
  for (const path of documents().filter((path) => !HISTORIES.includes(path))) {
    for (const command of commandsIn(readFileSync(join(ROOT, path), 'utf8'))) {
      const row = rows.find(({ name }) => `${command} `.startsWith(`${name} `))
      const isGroup = rows.some(({ name }) => name.startsWith(`${command} `))
      const given = command.match(/(?<= )--?[a-z][\w-]*/g) ?? []
      const unknown = given.filter((flag) => flag !== '--help' && !row?.flags.includes(flag))
      if ((row === undefined && !isGroup && command !== '--help') || unknown.length > 0)
        wrong.push(`${path}: ${command}`)
    }
  }
  t.same(wrong, [])
})
