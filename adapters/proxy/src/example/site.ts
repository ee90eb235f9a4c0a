import { createServer, type IncomingMessage } from 'node:http'
import { type Listening, listenOn } from '../listener/listen.ts'
import { escapeHtml, visitorsPage } from './page.ts'
import { COPY_SCRIPT, STYLE } from './style.ts'
import { canVisit, type ExampleFront, visit } from './visit.ts'

const ARTICLES = [
  ['gates', 'What a sally port is', 'Two doors, and never both open: every visitor waits between them first.'],
  ['walls', 'Why walls have few doors', 'A wall is as strong as the number of places where it is not a wall.'],
  ['watch', 'The night watch', 'A watch that looks at everyone the same way has looked at nobody.'],
] as const

const ROBOTS = 'User-agent: *\nDisallow: /drafts/\n'

/**
 * The origin of a proxy that has none: a few pages on a free port of loopback, each showing the verdict that came with
 * the request; on the first one a visitor becomes another one, by a link. `close()` cuts open connections.
 */
export async function openExampleSite(front: ExampleFront): Promise<Listening> {
  const server = createServer((request, response) => {
    request.resume()
    const text = textAt(request.url)
    if (text !== undefined) {
      response.writeHead(200, { 'Content-Type': `${text[0]}; charset=utf-8` })
      response.end(text[1])
      return
    }
    void pageOf(request, front)
      .catch(
        (error: unknown): Page => ({
          status: 502,
          title: 'Nobody came through',
          body: `<p>${escapeHtml(String(error))}</p>`,
        }),
      )
      .then((page) => {
        response.writeHead(page.status, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' })
        response.end(layout(page, front.links(), request))
      })
  })
  return listenOn(server, '127.0.0.1:0')
}

interface Page {
  readonly status: number
  readonly title: string
  readonly body: string
  /** The page is about another request than the one that it answers. */
  readonly isAboutAnother?: boolean | undefined
}

/** Media type and text of what is no page. */
function textAt(url = '/'): readonly [string, string] | undefined {
  if (url === '/robots.txt') return ['text/plain', ROBOTS]
  if (url === '/copy.js') return ['text/javascript', COPY_SCRIPT]
  const article = ARTICLES.find(([slug]) => url === `/articles/${slug}.md`)
  return article && ['text/markdown', `# ${article[1]}\n\n${article[2]}\n`]
}

async function pageOf({ url = '/', method }: IncomingMessage, front: ExampleFront): Promise<Page> {
  const [path, query = ''] = url.split('?', 2)
  if (path === '/') return gatehouse(front, query)
  const article = ARTICLES.find(([slug]) => path === `/articles/${slug}`)
  if (article) return page(article[1], article[2])
  switch (path) {
    case '/admin':
      return page('Admin', 'Nothing to administer here; but who is asking?')
    case '/search':
      return page('Search', 'Nothing was found, and looking for it was dear.')
    case '/checkout':
      return page('Checkout', 'Pay here, if you like.')
    case '/drafts/moat':
      return page('The moat', 'A draft, which robots.txt asks crawlers to leave alone.')
    case '/login': {
      const said = method === 'POST' ? '<p>This gate opens for nobody: it is an example.</p>' : ''
      const form =
        '<form method="post"><input name="name" placeholder="name" aria-label="name"> <button>Log in</button></form>'
      return { status: 200, title: 'Log in', body: said + form }
    }
    default:
      return { status: 404, title: 'Not here', body: '<p>There is no such page.</p>' }
  }
}

function page(title: string, text: string): Page {
  return { status: 200, title, body: `<p>${text}</p>` }
}

async function gatehouse(front: ExampleFront, query: string): Promise<Page> {
  const home = { status: 200, title: 'The Gatehouse' } as const
  if (!canVisit(front)) {
    const text = 'A small site behind Sallyport. With trustProxy: [loopback] you can be others here.'
    return { ...home, body: `<p>${text}</p>` }
  }
  const chosen = new URLSearchParams(query).get('as')
  const visitor = front.visitors.find(({ id }) => id === chosen)
  const shown = visitor && { visitor, visit: await visit(front, visitor) }
  return { ...home, body: visitorsPage(front, shown), isAboutAnother: shown !== undefined }
}

function layout({ title, body, isAboutAnother = false }: Page, links: string, { rawHeaders }: IncomingMessage): string {
  // A second verdict below that of the visitor would contradict it.
  const own = `<footer><p>You asked for this page yourself; of that request the gate said:</p><table>${verdictRows(rawHeaders)}</table></footer>`
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><link rel="icon" href="data:,"><style>${STYLE}</style>
<header><nav aria-label="Site"><a href="/">Home</a><a href="/articles/gates">Article</a><a href="/search">Search</a><a href="/checkout">Checkout</a><a href="/login">Log in</a></nav></header>
<main><h1>${title}</h1>${body}</main>${links}${isAboutAnother ? '<script src="/copy.js" defer></script>' : own}</html>
`
}

function verdictRows(fields: readonly string[]): string {
  let rows = ''
  for (let i = 0; i < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase()
    if (!name.startsWith('sallyport-') && name !== 'x-forwarded-for') continue
    rows += `\n<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(fields[i + 1] as string)}</td></tr>`
  }
  return rows
}
