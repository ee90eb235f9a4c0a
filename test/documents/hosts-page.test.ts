import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { HOSTS } from '../hosts/hosts.ts'
import { MORE_HOSTS } from '../hosts/more-hosts.ts'
import { exampleProjects, ROOT } from '../workspaces.ts'

/* The page says what was run: each host of the conformance table, and each project of the frameworks' check, and no others. */
const TEXT = readFileSync(join(ROOT, 'packages/sallyport/docs/code.md'), 'utf8')

/** The hosts of rows whose last cell has a word; `Express 5, 4` are two. */
function listNames(word: string): readonly string[] {
  const rows = TEXT.split('\n').filter((line) => line.startsWith('| ') && line.split('|').at(-2)?.includes(word))
  const names = rows.flatMap((row) => {
    const [first = '', ...others] = (row.split('|')[1] ?? '').trim().split(', ')
    return [first, ...others.map((other) => (/^\d+$/.test(other) ? first.replace(/\d+$/, other) : other))]
  })
  return [...new Set(names)].sort()
}

const CALLED: Readonly<Record<string, string>> = {
  'Hono on Node': 'Hono 4 on Node',
  'h3 2': 'h3 2 on Node',
  'Elysia on Node': 'Elysia 1.4 on Node',
  fetch: 'any handler of fetch',
}

t.test('every host of the conformance table has a row, and no other has one', async (t) => {
  const asked = [...HOSTS, ...MORE_HOSTS].map(({ name }) => name.replace(/ behind .*/, ''))
  // The proxy is what the page is about, and node:http2 the same host as node:http.
  const hosts = new Set([...asked.map((name) => CALLED[name] ?? name), 'node:http2'])
  hosts.delete('the proxy')
  t.same(listNames('conformance'), [...hosts].sort())
})

t.test('every project that is built and visited has a row, and no other has one', async (t) => {
  const named = listNames('project').map((name) =>
    name
      .toLowerCase()
      .replaceAll(/ \d+.*|\./g, '')
      .replace(' ', '-'),
  )
  // The projects of Next.js share a row.
  const projects = exampleProjects().filter((name) => name !== 'nextjs-server')
  t.same(named.sort(), projects.sort())
})
