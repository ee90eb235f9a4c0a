import { createServer, type IncomingMessage } from 'node:http'
import { type Listening, listenOn } from './listen.ts'

const ARTICLES = [
  ['gates', 'What a sally port is', 'Two doors, and never both open: every visitor waits between them first.'],
  ['walls', 'Why walls have few doors', 'A wall is as strong as the number of places where it is not a wall.'],
  ['watch', 'The night watch', 'A watch that looks at everyone the same way has looked at nobody.'],
] as const

const STYLE = `body{font:17px/1.6 Georgia,serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#222;background:#fdfcf9}
nav a{margin-right:1rem}a{color:#7a3b12}table{border-collapse:collapse;font:14px/1.6 monospace}
td{padding:.2rem 1rem .2rem 0;border-bottom:1px solid #e5e0d5}footer{margin-top:3rem;color:#776}`

/**
 * The origin of a proxy that has none: a few pages on a free port of loopback, each showing the verdict that came with
 * the request. `close()` cuts open connections.
 */
export async function openExampleSite(): Promise<Listening> {
  const server = createServer((request, response) => {
    const [status, title, body] = pageOf(request)
    request.resume()
    response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' })
    response.end(layout(title, body, request))
  })
  return listenOn(server, '127.0.0.1:0')
}

function pageOf({ url = '/', method }: IncomingMessage): readonly [status: number, title: string, body: string] {
  const path = url.split('?', 1)[0]
  if (path === '/') return [200, 'The Gatehouse', `<p>A small site behind Sallyport.</p><ul>${articleLinks()}</ul>`]
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

function articleLinks(): string {
  return ARTICLES.map(([slug, title]) => `<li><a href="/articles/${slug}">${title}</a></li>`).join('')
}

function layout(title: string, body: string, { rawHeaders }: IncomingMessage): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style>
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (byte) => `&#${byte.charCodeAt(0)};`)
}
