import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/*
 * The documentation site (`npm run site`) shows the Markdown files of this repository, with a search that runs in the browser. A link to
 * a file that is no page leads to the repository, and a link to a page that does not exist fails the build.
 */
const ROOT = resolve(import.meta.dirname, '..')
const DOCS = 'packages/sallyport/docs'
const REPOSITORY = 'https://github.com/sallyport/sallyport'
const IN_REPOSITORY = /^https:\/\/github\.com\/sallyport\/sallyport\/(?:blob|tree)\/main\//
const ADAPTERS = ['node', 'express', 'koa', 'fastify', 'fetch', 'proxy']

/** Names the pages outside the folder of documents, by their files. */
const OTHERS = {
  'README.md': 'index',
  'CHANGELOG.md': 'changelog',
  'bench/README.md': 'bench',
  'examples/README.md': 'examples',
  ...Object.fromEntries(ADAPTERS.map((name) => [`adapters/${name}/README.md`, `adapters/${name}`])),
}

/** Finds the page that shows a file. */
function findPage(file) {
  if (!file.startsWith(`${DOCS}/`)) return OTHERS[file]
  return file === `${DOCS}/README.md` ? 'docs' : file.slice(DOCS.length + 1).replace(/\.md$/, '')
}

/** Returns where a link in a file leads on the site. */
function resolveLink(from, href) {
  const isOurs = IN_REPOSITORY.test(href)
  if (!isOurs && /^[a-z]+:|^#/i.test(href)) return href
  const [target, anchor] = href.replace(IN_REPOSITORY, '').split('#')
  const path = isOurs ? target : relative(ROOT, resolve(ROOT, dirname(from), target))
  const page = findPage(path) ?? findPage(join(path, 'README.md'))
  const hash = anchor === undefined ? '' : `#${anchor}`
  return page === undefined ? `${REPOSITORY}/blob/main/${path}${hash}` : `/${page === 'index' ? '' : page}${hash}`
}

/** Lists the pages that the table of documents names, in its order. */
function listDocuments() {
  const rows = readFileSync(join(ROOT, DOCS, 'README.md'), 'utf8').matchAll(/^\| (\[.+?\)) \|/gm)
  const links = [...rows].flatMap(([, cell]) => [...cell.matchAll(/\[(.+?)\]\((.+?)\.md\)/g)])
  return links.map(([, text, page]) => ({ text: text[0].toUpperCase() + text.slice(1), link: `/${page}` }))
}

const toItems = (pages) => pages.map((page) => ({ text: page.replace('adapters/', ''), link: `/${page}` }))

// biome-ignore lint/style/noDefaultExport: VitePress reads it.
export default {
  title: 'Sallyport',
  description: 'The guarded gate for Node servers: network class, crawler and agent verdicts, decided in process.',
  outDir: 'dist/site',
  cacheDir: 'dist/.vitepress',
  // The pages of these packages are for their readers on npm.
  srcExclude: [
    '**/{node_modules,dist,test}/**',
    'packages/{core,engine,ledger}/**',
    'packages/sallyport/README.md',
    'data/**',
    'bench/league.md',
  ],
  rewrites: (file) => `${findPage(file)}.md`,
  // What the pages import is not installed here.
  vite: { ssr: { noExternal: true } },
  markdown: {
    html: false,
    // Anchors are those of GitHub, against which the tests compare links.
    anchor: {
      slugify: (title) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(' ', '-'),
    },
    config(md) {
      md.core.ruler.before('normalize', 'marks', (state) => {
        // Marks of tables that `npm run tables` writes.
        state.src = state.src.replaceAll(/^<!--.*-->$/gm, '')
      })
      md.core.ruler.push('links', ({ tokens, env }) => {
        const from = relative(ROOT, env.realPath ?? env.path)
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          if (token.type === 'link_open') token.attrSet('href', resolveLink(from, token.attrGet('href')))
        }
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      { text: 'Documentation', items: [{ text: 'overview', link: '/docs' }, ...listDocuments()] },
      { text: 'Middleware and proxy', items: toItems(ADAPTERS.map((name) => `adapters/${name}`)) },
      { text: 'Project', items: toItems(['upgrading', 'examples', 'bench', 'changelog']) },
    ],
    nav: [
      { text: 'Documentation', link: '/docs' },
      { text: 'API', link: '/routes' },
      { text: 'Repository', link: REPOSITORY },
    ],
  },
}
