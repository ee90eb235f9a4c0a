import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Decision } from '@sallyport/core'
import { escapeHtml } from '@sallyport/proxy/internal'
import { visitorsPage } from './page.ts'
import { STYLE } from './style.ts'
import { canVisit, type DemoFront, visit } from './visit.ts'

/** Limits the remembered decisions: a visit asks for its own at once. */
const MAX_DECISIONS = 256

const ARTICLE = 'Two doors, and never both open: every visitor waits between them first.'
const ROBOTS = 'User-agent: *\nDisallow: /drafts/\nDisallow: /letters/\n'

const PAGES: Readonly<Record<string, readonly [title: string, text: string]>> = {
  '/articles/gates': ['What a sally port is', ARTICLE],
  '/library/keeps': ['Keeps', 'The keep is the last tower to fall, and this page has a price for some.'],
  '/admin': ['Admin', 'Nothing to administer here; but who is asking?'],
  '/search': ['Search', 'Nothing was found, and looking for it was dear.'],
  '/checkout': ['Checkout', 'Pay here, if you like.'],
  '/drafts/moat': ['The moat', 'A draft, which robots.txt asks crawlers to leave alone.'],
  '/letters/siege': ['A letter', 'robots.txt asks crawlers to leave it alone, and no rule keeps them from it.'],
  '/login': ['Log in', 'This gate opens for nobody: it is an example.'],
}

const TEXTS: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/robots.txt': ['text/plain', ROBOTS],
  '/mcp': ['application/json', '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'],
  '/articles/gates.md': ['text/markdown', `# What a sally port is\n\n${ARTICLE}\n`],
}

/** Opens the site on a free port of loopback. Each page shows the verdict on its request; the first page offers other visitors. */
export async function openDemoSite() {
  const decisions = new Map<string, Decision>()
  let front: DemoFront | undefined
  const answer = async (request: IncomingMessage): Promise<readonly [status: number, type: string, text: string]> => {
    const { url = '/' } = request
    const text = TEXTS[url]
    if (text !== undefined) return [200, ...text]
    const page = url.split('?', 1)[0] === '/' ? await homePage(url, front, decisions) : pageAt(url)
    return [page.status, 'text/html', layout(page, front?.sallyport.decoyLink() ?? '', request)]
  }
  const server = createServer(async (request, response) => {
    request.resume()
    const failed = (error: unknown) => [502, 'text/plain', String(error)] as const
    const [status, type, text] = await answer(request).catch(failed)
    response.writeHead(status, { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'no-store' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onDecision(decision: Decision): void {
      if (decision.id !== undefined) decisions.set(decision.id, decision)
      const [oldest] = decisions.size > MAX_DECISIONS ? decisions.keys() : []
      if (oldest !== undefined) decisions.delete(oldest)
    },
    stand(placed: DemoFront): void {
      front = placed
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Page {
  readonly status: number
  readonly title: string
  readonly body: string
  /** Whether the page describes another request than the one that it answers. */
  readonly isAboutAnother?: boolean | undefined
}

function pageAt(url: string): Page {
  const [title, text] = PAGES[url.split('?', 1)[0] as string] ?? []
  if (title === undefined) return { status: 404, title: 'Not here', body: '<p>There is no such page.</p>' }
  const form =
    url === '/login' ? '<form method="post"><input name="name" aria-label="name"> <button>Log in</button></form>' : ''
  return { status: 200, title, body: `<p>${text}</p>${form}` }
}

async function homePage(
  url: string,
  front: DemoFront | undefined,
  decisions: ReadonlyMap<string, Decision>,
): Promise<Page> {
  const home = { status: 200, title: 'The Gatehouse' } as const
  const alone = '<p>A small site behind Sallyport. With trustProxy: [loopback] you can be others here.</p>'
  if (front === undefined || !canVisit(front)) return { ...home, body: alone }
  const chosen = new URL(url, 'http://site.invalid').searchParams.get('as')
  const visitor = front.visitors.find(({ id }) => id === chosen)
  const shown = visitor && { visitor, visit: await visit(front, visitor, decisions) }
  return { ...home, body: visitorsPage(front, shown), isAboutAnother: shown !== undefined }
}

function layout({ title, body, isAboutAnother = false }: Page, links: string, { rawHeaders }: IncomingMessage): string {
  // A second verdict below the visitor's would contradict it.
  const own = `<footer><p>You asked for this page yourself; of that request the gate said:</p><table>${verdictRows(rawHeaders)}</table></footer>`
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><link rel="icon" href="data:,"><style>${STYLE}</style>
<header><nav aria-label="Site"><a href="/">Home</a><a href="/articles/gates">Article</a><a href="/search">Search</a><a href="/checkout">Checkout</a><a href="/login">Log in</a></nav></header>
<main><h1>${title}</h1>${body}</main>${links}${isAboutAnother ? '' : own}</html>
`
}

function verdictRows(fields: readonly string[]): string {
  const rows = fields.map((field, at) => {
    const name = field.toLowerCase()
    if (at % 2 === 1 || (!name.startsWith('sallyport-') && name !== 'x-forwarded-for')) return ''
    return `\n<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(fields[at + 1] ?? '')}</td></tr>`
  })
  return rows.join('')
}
