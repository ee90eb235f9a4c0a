import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { documents, tracked } from './fences.ts'
import { countWords, isForCustomers } from './words.ts'

/* A reader who follows a link of a document arrives, and no line of a document is too long to read. */
const MAX_LINE = 300

const DOCUMENTS = documents()

/** Prose has at most this many words. Readers look up tables that a command writes, histories and figures. */
const MAX_WORDS = 22_858
/** All documents have at most this many words, with tables, histories and figures. */
const MAX_ALL_WORDS = 38_504
const MAX_CUSTOMER_WORDS = 28_200
const NOT_COUNTED =
  /^(?:\.github\/DECISIONS|CHANGELOG|bench\/(?:README|league)|packages\/sallyport\/docs\/options)\.md$/

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** A heading's name in a link, as GitHub makes it: `## Who the client is` → `who-the-client-is`. */
function listAnchors(text: string): readonly string[] {
  const shown = text.replaceAll(/^```[\s\S]*?^```/gm, '')
  const seen = new Map<string, number>()
  const headings = [...shown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const name = heading
      // A link is shown by its text.
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return before === 0 ? name : `${name}-${before}`
  })
  return [...headings, ...[...shown.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name)]
}

/** Reports whether a path from the root, with or without an anchor, is there. `text` is the text of the document at `path`. */
function leads(link: string, path: string, text: string): boolean {
  const [file = '', anchor] = link.split('#')
  if (!existsSync(join(ROOT, file))) return false
  if (anchor === undefined || anchor === 'readme') return true
  // The README of a folder is what GitHub shows of it.
  const shown = existsSync(join(ROOT, file, 'README.md')) ? join(file, 'README.md') : file
  return listAnchors(shown === path ? text : read(shown)).includes(anchor)
}

/** Lists the links of a document to other files of the repository that lead nowhere. */
function brokenIn(path: string, text: string): readonly string[] {
  const shown = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]+`/g, '')
  // Links as Markdown writes them, with a title or below the text, and as HTML does.
  const forms = /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^ {0,3}\[[^\]]+\]:\s+(\S+)|(?:href|src)="([^"]+)"/gm
  const links = [...shown.matchAll(forms)].map(([, one, two, three]) => one ?? two ?? three ?? '')
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    return !leads(link.startsWith('#') ? path + link : join(dirname(path), link), path, text)
  })
}

function brokenAddressesIn(text: string): readonly string[] {
  const addresses = text.matchAll(/https:\/\/github\.com\/sallyport\/sallyport\/(?:blob|tree)\/main\/([\w./#-]+)/g)
  return [...addresses].map(([, link = '']) => link.replace(/\.$/, '')).filter((link) => !leads(link, '', ''))
}

t.test('links that lead nowhere are found', async (t) => {
  const text = '# One, two\n[a](#one-two) [b](#three) [c](no.md) [d](LICENSE) [e](https://site.example/x)\n'
  t.same(brokenIn('README.md', text), ['#three', 'no.md'])
  const forms =
    '# A\n# A\n# [B](LICENSE) c\n[a](#a-1) [b](#b-c "so") [c](#a-2 "so")\n[d]: no.md\n<img src="no.png"> `[e](f.md)`\n'
  t.same(brokenIn('README.md', forms), ['#a-2', 'no.md', 'no.png'])
  const at = 'https://github.com/sallyport/sallyport'
  t.same(brokenAddressesIn(`${at}/tree/main/data#readme ${at}/blob/main/no.md ${at}/blob/main/README.md#none.`), [
    'no.md',
    'README.md#none',
  ])
})

t.test('every address of a file of ours in any file, whatever its kind, leads somewhere', async (t) => {
  const files = tracked().filter(
    (path) => !path.startsWith('test/documents/') && !/\.(?:png|gz|mmdb|bin|ico)$/.test(path),
  )
  t.ok(files.includes('examples/caddy/Caddyfile'))
  t.ok(files.length > 600)
  const broken = files.flatMap((path) => brokenAddressesIn(read(path)).map((link) => `${path}: ${link}`))
  t.same(broken, [])
})

t.test('every link between documents leads somewhere', async (t) => {
  t.ok(DOCUMENTS.length > 20)
  const broken = DOCUMENTS.flatMap((path) => brokenIn(path, read(path)).map((link) => `${path}: ${link}`))
  t.same(broken, [])
})

t.test('no line is too long to be read', async (t) => {
  const isLong = (line: string) => line.length > MAX_LINE
  const long = DOCUMENTS.flatMap((path) =>
    read(path)
      .split('\n')
      .filter(isLong)
      .map((line) => `${path}: ${line}`),
  )
  t.same(long, [])
})

t.test('the documents can be read in an afternoon', async (t) => {
  const pages = DOCUMENTS.filter((path) => path.startsWith('packages/sallyport/docs/'))
  t.ok(pages.length <= 20, `${pages.length} pages`)
  const count = (paths: readonly string[]) => countWords(paths.map(read).join('\n'))
  const customers = count(DOCUMENTS.filter(isForCustomers))
  t.ok(customers <= MAX_CUSTOMER_WORDS, `${customers} words for customers`)
  const prose = DOCUMENTS.filter((path) => !NOT_COUNTED.test(path))
    .map(read)
    .join('\n')
  const words = countWords(prose.replaceAll(/<!-- table: [\s\S]*?<!-- end of table -->/g, ''))
  t.ok(words <= MAX_WORDS, `${words} words`)
  const all = count(DOCUMENTS)
  t.ok(all <= MAX_ALL_WORDS, `${all} words`)
})
