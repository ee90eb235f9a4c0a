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

/** Reads a document with every run of white space as one space. */
function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').replaceAll(/\s+/g, ' ')
}

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
  const file = join(ROOT, 'test/evidence/evidence-vectors.json')
  const vectors: readonly { readonly evidence: EvidenceJson }[] = JSON.parse(readFileSync(file, 'utf8'))
  const records = vectors.flatMap(({ evidence }) =>
    evidence.records.map(({ dsse }) => JSON.parse(Buffer.from(dsse.payload, 'base64').toString())),
  )
  const shown: object = JSON.parse(text.split('```json\n')[1]?.split('```')[0] ?? '{}')
  t.same([...new Set(records.flatMap(memberPaths))].sort(), [...memberPaths(shown)].sort())
  const section = text.split('### Evidence\n')[1]?.split('\n### ')[0] ?? ''
  const cells = section.match(/(?<=^\| )`.+?`(?= \|)/gm) ?? []
  const named = cells.flatMap((cell) => cell.match(/(?<=`)\w+/g) ?? [])
  t.same(named.sort(), [...new Set(vectors.flatMap(({ evidence }) => Object.keys(evidence)))].sort())
})

/** Returns `a.b` for each leaf. */
function memberPaths(value: object): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' ? memberPaths(member).map((path) => `${name}.${path}`) : [name],
  )
}

t.test('as many crawlers and feeds as it says are in the data, and as many can be checked', async (t) => {
  const { crawlers } = createCatalogue()
  const sent = crawlers.filter(({ silent }) => silent === undefined)
  const isNamed = ({ names, agent }: (typeof crawlers)[number]) => names.length > 0 || agent !== undefined
  const checked = sent.filter((one) => one.ranges !== undefined || one.exclusive || isNamed(one)).length
  const on = SOURCES.filter(({ enabled, refreshHours }) => enabled && refreshHours !== undefined)
  const feeds = `${on.length} feeds by default, ${SOURCES.filter(({ enabled }) => !enabled).length} more sources`
  const says = readText(`${DOCS}/crawlers.md`) + readText(`${DOCS}/sources.md`)
  for (const sentence of [
    `prints the catalogue: ${crawlers.length} crawlers and agents`,
    `Of these, ${checked} can be verified, ${sent.length - checked} are known by name only, and ${crawlers.length - sent.length} never send`,
    `\`data/crawlers.json\`: ${crawlers.length} crawlers and agents`,
    `well-known prefixes of ${DATED_RANGES.length} lists`,
    `${on.filter(({ kind }) => kind === 'crawler').length} lists that their operators publish`,
    feeds,
  ]) {
    t.ok(says.includes(sentence), sentence)
  }
  t.ok(README.includes(feeds), feeds)
})

/** Histories name commands as they were. */
const HISTORIES = ['CHANGELOG.md', '.github/DECISIONS.md']

/** The commands that a document shows, in a line of a block or in a sentence, without `npx sallyport`. */
function listCommands(text: string): readonly string[] {
  const shown = text.match(/(?<=^(?:npx )?sallyport ).+$|(?<=`(?:npx )?sallyport )[^`\n\\]+(?=`)/gm) ?? []
  return shown.map((command) => command.replace(/ [#|>&].*$/, '').trim())
}

t.test('every command in a document is one, with options that it has', async (t) => {
  const rows = commandTable().map(({ usage, options }) => ({
    name: usage.replace(/ [<[].*$/, ''),
    flags: options.flatMap((option) => option.flags.split(/[ ,]+/).filter((word) => word.startsWith('-'))),
  }))
  const wrong: string[] = []
  for (const path of documents().filter((path) => !HISTORIES.includes(path))) {
    for (const command of listCommands(readFileSync(join(ROOT, path), 'utf8'))) {
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
