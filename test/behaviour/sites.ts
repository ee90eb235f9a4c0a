import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { install, isUnreachable, run } from '../packaging/npm.ts'
import { BIN } from '../started.ts'

/* The bundled example site, and three applications of npm with 144 pages each. A folder of this machine keeps what was installed. */
export const PAGES = 144
const PICTURES = 20
const CACHE = join(tmpdir(), 'sallyport-behaviour')

/** An application; `npm` names what it is installed from, in pinned versions. */
export interface SiteKind {
  readonly name: string
  readonly npm: readonly string[]
  /** Writes its pages and its configuration into the folder in which it is installed. */
  readonly make: (folder: string) => void
  readonly build?: readonly string[] | undefined
  /** The command that serves it. */
  readonly serve: (folder: string, port: number) => readonly string[]
  readonly until: string
  readonly page: (number: number) => string
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const PROSE = 'The gate opens when the other one is shut. '.repeat(40)

/** Writes a page in Markdown that links to others and shows a picture. */
function pageText(number: number, page: SiteKind['page'], pictures: string): string {
  const links = [1, 17, 29, 53].map((step) => `[Page](${page((number + step) % PAGES)})`)
  return `${links.join(' ')}\n\n![Picture](${pictures}/p${number % PICTURES}.svg)\n\n${PROSE}\n`
}

function writePictures(folder: string): void {
  for (let number = 0; number < PICTURES; number++) {
    write(
      join(folder, `p${number}.svg`),
      `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>${number}</text></svg>`,
    )
  }
}

const wikiPage = (number: number): string => `/part-${Math.floor(number / 12)}/page-${number % 12}`
const docsPage = (number: number): string => `/guide/page-${number}.html`
const blogPage = (number: number): string => `/post-${number}/`
const numbers = Array.from({ length: PAGES }, (_, number) => number)

const WIKI_SERVER = `const raneto = require('raneto'), base = __dirname + '/node_modules/raneto'
const config = require(base + '/example/config.default.js')
Object.assign(config, { content_dir: __dirname + '/content', theme_dir: base + '/themes', public_dir: base + '/themes/default/public' })
raneto(config).listen(process.argv[2], '127.0.0.1', () => console.log('listens'))
`

const WIKI_PARTS = 'bootstrap fitvids highlightjs jquery masonry-layout sweetalert2 jquery-backstretch'

const WIKI: SiteKind = {
  name: 'wiki',
  npm: ['raneto@0.16.0', '--ignore-scripts'],
  make(folder) {
    const shared = join(folder, 'node_modules/raneto/themes/default/public')
    // The package copies these by a version of gulp that needs an older Node.
    for (const name of WIKI_PARTS.split(' ')) {
      cpSync(join(folder, 'node_modules', name), join(shared, 'lib', name), { recursive: true })
    }
    writePictures(join(shared, 'pictures'))
    for (const number of numbers) {
      const text = pageText(number, wikiPage, '/pictures')
      write(join(folder, 'content', `${wikiPage(number)}.md`), `/*\nTitle: Page ${number}\n*/\n\n${text}`)
    }
    write(join(folder, 'server.cjs'), WIKI_SERVER)
  },
  serve: (folder, port) => [process.execPath, join(folder, 'server.cjs'), String(port)],
  until: 'listens',
  page: wikiPage,
}

const DOCS: SiteKind = {
  name: 'documentation',
  npm: ['vitepress@1.6.4'],
  make(folder) {
    writePictures(join(folder, 'site/public'))
    for (const number of numbers) {
      write(join(folder, `site/guide/page-${number}.md`), `# Page ${number}\n\n${pageText(number, docsPage, '')}`)
    }
    write(join(folder, 'site/index.md'), numbers.map((number) => `- [Page](${docsPage(number)})`).join('\n'))
    const bar = numbers.slice(0, 20).map((number) => ({ text: `Page ${number}`, link: docsPage(number) }))
    write(
      join(folder, 'site/.vitepress/config.mjs'),
      `export default ${JSON.stringify({ title: 'Docs', themeConfig: { sidebar: bar } })}`,
    )
  },
  build: ['vitepress', 'build', 'site'],
  serve: (folder, port) => [join(folder, 'node_modules/.bin/vitepress'), 'preview', 'site', '--port', String(port)],
  until: 'served at',
  page: docsPage,
}

const BLOG_PARTS = ['theme-landscape@1.1.0', 'renderer-marked@7.0.1', 'renderer-ejs@2.0.0', 'renderer-stylus@3.0.1']
const BLOG_MAKERS = ['generator-index@4.0.0', 'generator-archive@2.0.0', 'generator-tag@2.0.0', 'generator-feed@3.0.0']

const BLOG: SiteKind = {
  name: 'blog',
  npm: ['hexo@8.1.2', 'hexo-server@3.0.0', ...[...BLOG_PARTS, ...BLOG_MAKERS].map((name) => `hexo-${name}`)],
  make(folder) {
    writePictures(join(folder, 'source/images'))
    for (const number of numbers) {
      const head = `---\ntitle: Post ${number}\ndate: 2026-0${1 + (number % 9)}-11 10:00:00\ntags: [tag${number % 12}]\n---\n`
      write(join(folder, `source/_posts/post-${number}.md`), `${head}\n${pageText(number, blogPage, '/images')}`)
    }
    write(
      join(folder, '_config.yml'),
      'title: Blog\nurl: http://localhost\ntheme: landscape\npermalink: :title/\nfeed: { type: [rss2], path: [rss.xml] }\n',
    )
  },
  build: ['hexo', 'generate'],
  serve: (folder, port) => [join(folder, 'node_modules/.bin/hexo'), 'server', '-s', '-i', '127.0.0.1', '-p', `${port}`],
  until: 'is running',
  page: blogPage,
}

const FRAGMENTS_SERVER = `const fs = require('node:fs'), http = require('node:http')
const script = fs.readFileSync(__dirname + '/node_modules/htmx.org/dist/htmx.min.js')
const send = (res, type, text) => res.writeHead(200, { 'Content-Type': type }).end(text)
http.createServer(({ url }, res) => {
  const [, kind, number] = /^\\/(page|part)-(\\d+)/.exec(url) ?? []
  if (url === '/htmx.js') return send(res, 'text/javascript', script)
  if (url === '/news') return send(res, 'text/html', '<p>Nothing new.')
  if (kind === 'part') return setTimeout(send, 30, res, 'text/html', '<p>Part')
  if (kind !== 'page') return res.writeHead(404).end()
  const links = [1, 17, 18, 29, 47, 53].map((step) => '<a href="/page-' + ((+number + step) % PAGES) + '">Page</a>')
  const parts = [1, 2, 3, 4].map((part) => '<div hx-trigger="load" hx-get="/part-' + number + '-' + part + '"></div>')
  const news = '<div hx-trigger="every 200ms" hx-get="/news"></div>'
  send(res, 'text/html', '<!doctype html><title>Page</title><script src="/htmx.js"></script>' + links.join(' ') + parts.join('') + news)
}).listen(process.argv[2], '127.0.0.1', () => console.log('listens'))
`

/** Each page loads four others into itself, and asks for news again and again. */
export const FRAGMENTS: SiteKind = {
  name: 'pages of fragments',
  npm: ['htmx.org@2.0.4'],
  make: (folder) => write(join(folder, 'server.cjs'), FRAGMENTS_SERVER.replace('PAGES', String(PAGES))),
  serve: (folder, port) => [process.execPath, join(folder, 'server.cjs'), String(port)],
  until: 'listens',
  page: (number) => `/page-${number}`,
}

const EXAMPLE_PATHS = ['/', '/articles/gates', '/search', '/checkout', '/login']

/** Its own gate observes: the one before it decides. */
const EXAMPLE: SiteKind = {
  name: 'example site',
  npm: [],
  make: (folder) => write(join(folder, 'site.yaml'), 'demo: true\nadmin: 127.0.0.1:0\npolicy: { preset: observe }\n'),
  serve: (folder, port) => [
    process.execPath,
    BIN,
    'proxy',
    '--config',
    join(folder, 'site.yaml'),
    '--listen',
    `127.0.0.1:${port}`,
  ],
  until: 'Listening',
  page: (number) => EXAMPLE_PATHS[number % EXAMPLE_PATHS.length] as string,
}

export const SITES: readonly SiteKind[] = [WIKI, DOCS, BLOG, EXAMPLE]

/** Installs an application once; resolves with its folder, or with `undefined` where the registry is not reached. */
export async function prepareSite(kind: SiteKind): Promise<string | undefined> {
  const folder = await prepare(kind.name.replace(' ', '-'), kind.npm)
  // Pages that an older version of this file wrote are written again.
  const made = createHash('sha256').update(String(kind.make)).digest('hex').slice(0, 12)
  if (folder === undefined || existsSync(join(folder, made))) return folder
  kind.make(folder)
  if (kind.build !== undefined) {
    const { code, output } = await run('npx', kind.build, folder)
    if (code !== 0) throw new Error(output)
  }
  write(join(folder, made), '')
  return folder
}

/** Makes a folder of the cache that has these packages of npm in it. */
export async function prepare(name: string, packages: readonly string[]): Promise<string | undefined> {
  const folder = join(CACHE, name)
  const installed = join(folder, 'installed')
  if (existsSync(installed)) return folder
  write(join(folder, 'package.json'), JSON.stringify({ private: true, hexo: {} }))
  if (packages.length > 0) {
    const { code, output } = await install(folder, packages)
    if (code !== 0 && isUnreachable(output)) return undefined
    if (code !== 0) throw new Error(output)
  }
  write(installed, '')
  return folder
}
