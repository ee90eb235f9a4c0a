import type { PaymentProvider } from '@sallyport/core'
import type { Aim } from '../requests/simulated-agents.ts'

export const VISITOR_KINDS = ['People', 'Crawlers and agents', 'Programs'] as const

export interface DemoVisitor {
  readonly id: string
  readonly kind: (typeof VISITOR_KINDS)[number]
  readonly who: string
  readonly address: string
  /** Lists the paths that the visitor requests in order; the page shows the last outcome. */
  readonly paths: readonly [string, ...string[]]
  /** The last action of several requests or of a payment, which no single decision tells. */
  readonly comes?: 'throttle' | 'block' | 'allow' | undefined
  readonly note?: string | undefined
  /** Absent: curl sends its own. */
  readonly userAgent?: string | undefined
  /** Lists further fields that such a visitor sends: name, value, name, value … */
  readonly fields?: readonly string[] | undefined
  /** The body that the visitor posts; absent: it sends a GET. */
  readonly body?: string | undefined
  /** Returns all fields of a visitor that signs, for one request. */
  readonly sign?: ((aim: Aim) => readonly string[]) | undefined
}

/** Requests for an article ask for nothing and change nothing. */
const ARTICLE = '/articles/gates'

const GOOGLEBOT = 'Googlebot/2.1'
const GPTBOT = 'GPTBot/1.2'
const BROWSER = {
  kind: 'People',
  userAgent: 'Mozilla/5.0 (Android 15; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0',
  fields: ['Accept', 'text/html', 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate'],
} as const

/** Lists visitors on real networks of the named kinds. Each has its own address, so that no visitor suffers for another's actions. */
export const DEMO_VISITORS: readonly DemoVisitor[] = [
  visitor('home', 'a browser on a home line', '73.162.10.20', BROWSER),
  visitor('vpn', 'a browser behind a VPN', '45.83.220.10', BROWSER),
  visitor('vpn-login', 'a browser behind a VPN, to log in', '45.83.220.11', {
    ...BROWSER,
    paths: ['/login'],
    note: 'A challenged visitor gets this page, which reloads after a second. This is a picture of it: nothing is solved here.',
  }),
  visitor('tor', 'a browser at a Tor exit', '185.220.101.10', BROWSER),
  visitor('tor-checkout', 'a browser at a Tor exit, to pay', '185.220.101.11', { ...BROWSER, paths: ['/checkout'] }),

  crawler('googlebot', 'Googlebot', '66.249.66.1', GOOGLEBOT),
  crawler('forged', 'a forged Googlebot on a home line', '73.162.10.21', GOOGLEBOT, {
    note:
      'No fresh list of Google’s is loaded, so nothing is proven. The one that came with Sallyport may lack a genuine ' +
      'Googlebot, but that comes from a cloud: this policy refuses those that come from a home line, a hosting company or a VPN.',
  }),
  crawler('gptbot', 'GPTBot, whose address proves it', '132.196.86.10', GPTBOT, {
    note: 'Its address is OpenAI’s, so it is led to the same text as Markdown. A program that only calls itself so is not.',
  }),
  crawler('offered', 'GPTBot, where pages have a price', '132.196.86.11', GPTBOT, { paths: ['/library/keeps'] }),
  crawler('paid', 'GPTBot, which pays that price', '132.196.86.12', GPTBOT, {
    paths: ['/library/keeps'],
    fields: ['Accept', '*/*', 'Crawler-Exact-Price', 'USD 0.01'],
    comes: 'allow',
    note: 'Its address proves it, so its promise is taken, by a port of the demo that bills nobody. The payment is in the log and in the record of crawling.',
  }),
  crawler('robots', 'a crawler where robots.txt says no', '5.9.10.30', 'AhrefsBot/7.0', { paths: ['/drafts/moat'] }),
  crawler('against', 'GPTBot, where only robots.txt says no', '132.196.86.13', GPTBOT, {
    paths: ['/letters/siege'],
    note: 'sallyport report --ai --evidence OpenAI --from 1h --to 0s proves from the ledger what it read; ledger.timestamps names an authority that proves when.',
  }),
  crawler('token', 'a name that no request carries', '73.162.10.22', 'Google-Extended/1.0', {
    note: 'Google-Extended is a word for robots.txt. Google sends no request with it, so a client that does is an impostor.',
  }),

  visitor('mcp', 'an MCP client that calls a tool four times', '5.9.10.26', {
    ...mcpClient('ls'),
    paths: times(4, '/mcp'),
    comes: 'throttle',
  }),
  visitor('mcp-rm', 'an MCP client that calls a blocked tool', '5.9.10.27', {
    ...mcpClient('rm'),
    note: 'The rule matches the tool, in a batch of calls too. The refusal is JSON-RPC with the id of the call, so that its client can read it.',
  }),

  visitor('hosting', 'a program in a hosting network', '5.9.10.20'),
  visitor('python', 'a Python client that says Chrome', '5.9.10.24', {
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36',
    fields: ['Accept', '*/*', 'Accept-Encoding', 'gzip, deflate'],
    note: 'It has the name of Chrome and none of its headers. It is challenged, not refused: a browser would pass.',
  }),
  visitor('copied', 'a copied user agent on a server', '5.9.10.25', {
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; rv:150.0) Gecko/20100101 Firefox/150.0',
    note:
      'It has the name of a browser and nothing else of it. This policy flags it, and the probability that it is a program goes to the ' +
      'site and into the log; protect-content, stop-scrapers and under-attack challenge it, and so does jurisdiction-strict.',
  }),
  visitor('tls', 'a program with the headers of Firefox', '73.162.10.23', {
    ...BROWSER,
    kind: 'Programs',
    fields: [...BROWSER.fields, 'X-JA4', 't13d1812h1_85036bcba153_d41ae481755e'],
    note: 'A server in front has ended its TLS, and X-JA4 names its handshake: it is a program’s. Only a trusted peer is believed.',
  }),
  visitor('search', 'a program that searches five times', '5.9.10.21', {
    paths: times(5, '/search'),
    comes: 'throttle',
  }),
  visitor('decoy', 'a program that follows a hidden link', '5.9.10.22', {
    paths: ['/staff/rota', ARTICLE],
    comes: 'block',
    note: 'No person sees the link, and robots.txt asks crawlers to stay away. The answer is 404, and a ban of a minute follows.',
  }),
  visitor('signs', 'an old browser on a rented server', '5.9.10.23', {
    userAgent: 'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)',
    note: 'It could be a person’s. None of these signs is enough: an old browser, no language, a rented server. A rule looks at their sum.',
  }),
]

function visitor(id: string, who: string, address: string, more: Partial<DemoVisitor> = {}): DemoVisitor {
  return { id, who, address, kind: 'Programs', paths: [ARTICLE], ...more }
}

function crawler(id: string, who: string, address: string, userAgent: string, more: Partial<DemoVisitor> = {}) {
  return visitor(id, who, address, { kind: 'Crawlers and agents', userAgent, ...more })
}

function mcpClient(tool: string): Partial<DemoVisitor> {
  const fields = ['Content-Type', 'application/json', 'Accept', 'application/json, text/event-stream']
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool } })
  return { kind: 'Crawlers and agents', paths: ['/mcp'], userAgent: 'mcp-client/1.0', fields, body }
}

function times(count: number, path: string): readonly [string, ...string[]] {
  return [path, ...new Array<string>(count - 1).fill(path)]
}

/** Accepts each promise of a proven crawler, and bills no client: the demo moves no money. */
export const DEMO_PAYMENTS: PaymentProvider = {
  accept: async (_receipt, _offer, { id }) => ({ accepted: true, receipt: `demo-${id.slice(0, 8)}` }),
}
