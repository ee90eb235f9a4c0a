import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { documents, tracked } from './fences.ts'

/* A reader who follows a link of a document arrives, and no line of one is too long to be read. */
const MAX_LINE = 300

const DOCUMENTS = documents()

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** A heading's name in a link, as GitHub makes it: `## Who the client is` → `who-the-client-is`. */
function anchorsOf(text: string): readonly string[] {
  const headings = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)]
  return headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The README of a folder is what GitHub shows of it. */
const shownOf = (target: string) => (existsSync(join(ROOT, target, 'README.md')) ? join(target, 'README.md') : target)

/** Whether a path from the root, with an anchor or without, is there; `text` is that of the document at `path`. */
function leads(link: string, path: string, text: string): boolean {
  const [file = '', anchor] = link.split('#')
  if (!existsSync(join(ROOT, file))) return false
  const shown = shownOf(file)
  return anchor === undefined || anchor === 'readme' || anchorsOf(shown === path ? text : read(shown)).includes(anchor)
}

/** The links of a document to others of the repository that lead nowhere. */
function brokenIn(path: string, text: string): readonly string[] {
  const links = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    return !leads(link.startsWith('#') ? path + link : join(dirname(path), link), path, text)
  })
}

/** The addresses of files of the repository in any text that lead nowhere. */
function brokenAddressesIn(text: string): readonly string[] {
  const addresses = text.matchAll(/https:\/\/github\.com\/sallyport\/sallyport\/(?:blob|tree)\/main\/([\w./#-]+)/g)
  return [...addresses].map(([, link = '']) => link.replace(/\.$/, '')).filter((link) => !leads(link, '', ''))
}

t.test('links that lead nowhere are found', async (t) => {
  const text = '# One, two\n[a](#one-two) [b](#three) [c](no.md) [d](LICENSE) [e](https://site.example/x)\n'
  t.same(brokenIn('README.md', text), ['#three', 'no.md'])
  const at = 'https://github.com/sallyport/sallyport'
  t.same(brokenAddressesIn(`${at}/tree/main/data#readme ${at}/blob/main/no.md ${at}/blob/main/README.md#none.`), [
    'no.md',
    'README.md#none',
  ])
})

t.test('every address of a file of ours in a document, a source or an example leads somewhere', async (t) => {
  const files = tracked('*.md', '*.ts', '*.tsx', '*.yaml').filter((path) => !path.startsWith('test/documents/'))
  t.ok(files.length > 600)
  t.same(
    files.flatMap((path) => brokenAddressesIn(read(path)).map((link) => `${path}: ${link}`)),
    [],
  )
})

t.test('every link between documents leads somewhere', async (t) => {
  t.ok(DOCUMENTS.length > 20)
  t.same(
    DOCUMENTS.flatMap((path) => brokenIn(path, read(path)).map((link) => `${path}: ${link}`)),
    [],
  )
})

t.test('no line is too long to be read', async (t) => {
  const long = DOCUMENTS.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => (line.length > MAX_LINE ? [`${path}:${index + 1}`] : [])),
  )
  t.same(long, [])
})
