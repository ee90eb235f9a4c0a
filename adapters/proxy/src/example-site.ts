import { createServer, type IncomingMessage } from 'node:http'
import { escapeHtml, visitorsPage } from './example-page.ts'
import { canVisit, type ExampleFront, visit } from './example-visit.ts'
import { EXAMPLE_VISITORS } from './example-visitors.ts'
import { type Listening, listenOn } from './listener/listen.ts'

const ARTICLES = [
  ['gates', 'What a sally port is', 'Two doors, and never both open: every visitor waits between them first.'],
  ['walls', 'Why walls have few doors', 'A wall is as strong as the number of places where it is not a wall.'],
  ['watch', 'The night watch', 'A watch that looks at everyone the same way has looked at nobody.'],
] as const

const STYLE = `body{font:17px/1.6 Georgia,serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color:#222;background:#fdfcf9}
nav a{margin-right:1rem}a{color:#7a3b12}table{border-collapse:collapse;font:14px/1.6 monospace;border-left:4px solid #ccc}
table.allow{border-color:#2b7a5e}table.flag{border-color:#b87a00}table.block,table.throttle{border-color:#b3262e}
th{text-align:left;font-weight:400;color:#665}td,th{padding:.2rem 1rem .2rem .6rem;border-bottom:1px solid #e5e0d5;vertical-align:top}
footer{margin-top:3rem;color:#665}.who{display:flex;flex-wrap:wrap;gap:.5rem}.be{border:1px solid #c9b8a5;border-radius:6px;padding:.15rem .7rem;text-decoration:none}
.be[aria-current]{background:#7a3b12;color:#fff}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f3efe6;padding:.7rem;font-size:13px}
iframe{width:100%;height:20rem;border:1px solid #e5e0d5;background:#fff}`

/**
 * The origin of a proxy that has none: a few pages on a free port of loopback, each showing the verdict that came with
 * the request; on the first one a visitor becomes another one, by a link. `close()` cuts open connections.
 */
export async function openExampleSite(front: ExampleFront): Promise<Listening> {
  const server = createServer((request, response) => {
    request.resume()
    void pageOf(request, front)
      .catch((error: unknown): Page => [502, 'Nobody came through', `<p>${escapeHtml(String(error))}</p>`])
      .then(([status, title, body]) => {
        response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' })
        response.end(layout(title, body, request))
      })
  })
  return listenOn(server, '127.0.0.1:0')
}

type Page = readonly [status: number, title: string, body: string]

async function pageOf({ url = '/', method }: IncomingMessage, front: ExampleFront): Promise<Page> {
  const [path, query = ''] = url.split('?', 2)
  if (path === '/') return [200, 'The Gatehouse', `${await gatehouse(front, query)}<ul>${articleLinks()}</ul>`]
  const article = ARTICLES.find(([slug]) => path === `/articles/${slug}`)
  if (article) return [200, article[1], `<p>${article[2]}</p>`]
  if (path === '/admin') return [200, 'Admin', '<p>Nothing to administer here; but who is asking?</p>']
  if (path === '/login') {
    const said = method === 'POST' ? '<p>This gate opens for nobody: it is an example.</p>' : ''
    const form = '<form method="post"><input name="name" placeholder="name"> <button>Log in</button></form>'
    return [200, 'Log in', said + form]
  }
  return [404, 'Not here', '<p>There is no such page.</p>']
}

async function gatehouse(front: ExampleFront, query: string): Promise<string> {
  if (!canVisit(front))
    return '<p>A small site behind Sallyport. With trustProxy: [loopback] you can be others here.</p>'
  const chosen = new URLSearchParams(query).get('as')
  const visitor = EXAMPLE_VISITORS.find(({ id }) => id === chosen)
  return visitorsPage(front, visitor && { visitor, visit: await visit(front, visitor) })
}

function articleLinks(): string {
  return ARTICLES.map(([slug, title]) => `<li><a href="/articles/${slug}">${title}</a></li>`).join('')
}

function layout(title: string, body: string, { rawHeaders }: IncomingMessage): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style>
<nav><a href="/">Home</a><a href="/articles/gates">Articles</a><a href="/login">Log in</a><a href="/admin">Admin</a></nav>
<h1>${title}</h1>${body}
<footer><p>What the gate said of this request:</p><table>${verdictRows(rawHeaders)}</table></footer></html>
`
}

function verdictRows(fields: readonly string[]): string {
  let rows = ''
  for (let i = 0; i < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase()
    if (!name.startsWith('sallyport-') && name !== 'x-forwarded-for') continue
    rows += `\n<tr><td>${escapeHtml(name)}</td><td>${escapeHtml(fields[i + 1] as string)}</td></tr>`
  }
  return rows
}
