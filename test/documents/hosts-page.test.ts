import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { HOSTS } from '../hosts/hosts.ts'
import { MORE_HOSTS } from '../hosts/more-hosts.ts'
import { exampleProjects, ROOT } from '../workspaces.ts'

/* The page says what was run: each host of the conformance table, and each project of the frameworks' check, and no others. */
const TEXT = readFileSync(join(ROOT, 'packages/sallyport/docs/code.md'), 'utf8')

/** The hosts of rows whose last cell has a word; `Express 5, 4` are two. */
function rowsWith(word: string): ReadonlySet<string> {
  const rows = TEXT.split('\n').filter((line) => line.startsWith('| ') && line.split('|').at(-2)?.includes(word))
  const names = rows.flatMap((row) => {
    const [first = '', ...others] = (row.split('|')[1] ?? '').trim().split(', ')
    return [first, ...others.map((other) => (/^\d+$/.test(other) ? first.replace(/\d+$/, other) : other))]
  })
  return new Set(names)
}

/** Hosts by the name that the page gives them. */
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
  t.same([...rowsWith('conformance')].sort(), [...hosts].sort())
})

/** Names of frameworks by the folders of their projects. */
const FRAMEWORKS: Readonly<Record<string, string>> = {
  adonisjs: 'AdonisJS',
  bun: 'Bun',
  deno: 'Deno',
  hapi: 'hapi 21',
  nestjs: 'NestJS',
  nextjs: 'Next.js',
  'nextjs-server': 'Next.js',
  nitro: 'Nitro 2 for Node',
  'react-router': 'React Router',
  remix: 'Remix',
  restify: 'restify 12',
  sveltekit: 'SvelteKit',
}

t.test('every project that is built and visited has a row, and no other has one', async (t) => {
  const projects = exampleProjects()
  t.same(Object.keys(FRAMEWORKS).sort(), [...projects].sort())
  t.same([...rowsWith('project')].sort(), [...new Set(projects.map((name) => FRAMEWORKS[name]))].sort())
})
