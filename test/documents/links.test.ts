import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'

/* A reader who follows a link of a document arrives, and no line of one is too long to be read. */
const MAX_LINE = 300

/** The Markdown that git tracks. */
const DOCUMENTS = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** What a heading is called in a link, as GitHub makes it: `## Who the client is` → `who-the-client-is`. */
function anchorsOf(text: string): readonly string[] {
  const headings = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)]
  return headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The links of a document to others of the repository that lead nowhere. */
function brokenIn(path: string, text: string): readonly string[] {
  const links = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : join(dirname(path), file)
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && !anchorsOf(target === path ? text : read(target)).includes(anchor)
  })
}

t.test('links that lead nowhere are found', async (t) => {
  const text = '# One, two\n[a](#one-two) [b](#three) [c](no.md) [d](LICENSE) [e](https://site.example/x)\n'
  t.same(brokenIn('README.md', text), ['#three', 'no.md'])
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
