import { createServer, type IncomingMessage } from 'node:http'
import { type Listening, listenOn } from '../listener/listen.ts'
import { escapeHtml, visitorsPage } from './page.ts'
import { canVisit, type ExampleFront, visit } from './visit.ts'

const ARTICLES = [
  ['gates', 'What a sally port is', 'Two doors, and never both open: every visitor waits between them first.'],
  ['walls', 'Why walls have few doors', 'A wall is as strong as the number of places where it is not a wall.'],
  ['watch', 'The night watch', 'A watch that looks at everyone the same way has looked at nobody.'],
] as const

const STYLE = `:root{color-scheme:light dark;--ink:#222;--ground:#fdfcf9;--quiet:#665c50;--link:#7a3b12;--on-link:#fff;--line:#e5e0d5;--code:#f3efe6;--good:#2b7a5e;--look:#9a6500;--bad:#b3262e}
@media (prefers-color-scheme:dark){:root{--ink:#e9e4da;--ground:#1b1917;--quiet:#b3a999;--link:#eba877;--on-link:#1b1917;--line:#3b362f;--code:#26231f;--good:#58b892;--look:#dba13c;--bad:#f07f7b}}
body{font:17px/1.6 Georgia,serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--ground)}
nav a{margin-right:1rem}a{color:var(--link)}h1{margin:.6rem 0}h2{margin:1.4rem 0 .4rem}h3{font-size:1rem;margin:1rem 0 .4rem}
table{border-collapse:collapse;font:15px/1.5 system-ui,sans-serif;border-left:4px solid var(--line);width:100%}
table.allow{border-color:var(--good)}table.flag{border-color:var(--look)}table.block,table.throttle{border-color:var(--bad)}
.allow strong{color:var(--good)}.flag strong{color:var(--look)}.block strong,.throttle strong{color:var(--bad)}
th{text-align:left;font-weight:400;color:var(--quiet);white-space:nowrap}td,th{padding:.25rem .8rem .25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td{overflow-wrap:anywhere}footer{margin-top:3rem;color:var(--quiet)}footer table{font-size:13px;width:auto}
.who{display:flex;flex-wrap:wrap;gap:.5rem}.be{border:1px solid var(--quiet);border-radius:6px;padding:.15rem .7rem;text-decoration:none}
.be[aria-current]{background:var(--link);color:var(--on-link)}.note{border-left:4px solid var(--look);padding:.2rem .8rem}
.halves{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:0 1.5rem}section{min-width:0}
.signals{padding-left:1.1rem}.signals small{color:var(--quiet)}meter{width:7rem;height:.6rem;vertical-align:baseline}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--code);padding:.7rem;font-size:13px;max-height:14rem;overflow:auto}
iframe{width:100%;height:24rem;border:1px solid var(--line);color-scheme:light dark}`

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
        response.end(layout(title, body + front.links(), request))
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
  const visitor = front.visitors.find(({ id }) => id === chosen)
  return visitorsPage(front, visitor && { visitor, visit: await visit(front, visitor) })
}

function articleLinks(): string {
  return ARTICLES.map(([slug, title]) => `<li><a href="/articles/${slug}">${title}</a></li>`).join('')
}

function layout(title: string, body: string, { rawHeaders }: IncomingMessage): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style>
<nav><a href="/">Home</a><a href="/articles/gates">Articles</a><a href="/login">Log in</a><a href="/admin">Admin</a></nav>
<h1>${title}</h1>${body}
<footer><p>You asked for this page yourself; of that request the gate said:</p><table>${verdictRows(rawHeaders)}</table></footer></html>
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
