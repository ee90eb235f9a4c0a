/** Target of a visitor of the demo. */
export interface DemoAim {
  readonly host: string
  readonly method: 'GET'
  readonly target: string
  readonly scheme: 'http'
}

/** Headings under which visitors are shown. */
export const VISITOR_KINDS = ['People', 'Crawlers and agents', 'Programs'] as const

/** A visitor to be, on the site and in a terminal. */
export interface DemoVisitor {
  readonly id: string
  readonly kind: (typeof VISITOR_KINDS)[number]
  readonly who: string
  readonly address: string
  /** Paths that it asks for, one after the other; what came of the last one is shown. */
  readonly paths: readonly [string, ...string[]]
  /** The last action where there are several, which no single decision says. */
  readonly comes?: 'throttle' | 'block' | undefined
  /** A note for the reader. */
  readonly note?: string | undefined
  /** Absent: curl's own. */
  readonly userAgent?: string | undefined
  /** Further fields that such a visitor sends: name, value, name, value … */
  readonly fields?: readonly string[] | undefined
  /** Fields of a visitor that signs: all of them, made for one request. */
  readonly sign?: ((aim: DemoAim) => readonly string[]) | undefined
}

/** An article, in which nothing is asked or changed. */
const ARTICLE = '/articles/gates'

const GOOGLEBOT = 'Googlebot/2.1'
const BROWSER = {
  kind: 'People',
  userAgent: 'Mozilla/5.0 (Android 15; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0',
  fields: ['Accept', 'text/html', 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate'],
} as const

/** Visitors on real networks of the named kinds. Each has an address of its own, so that nobody pays for another's deeds. */
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

  visitor('googlebot', 'Googlebot', '66.249.66.1', { kind: 'Crawlers and agents', userAgent: GOOGLEBOT }),
  visitor('forged', 'a forged Googlebot on a home line', '73.162.10.21', {
    kind: 'Crawlers and agents',
    userAgent: GOOGLEBOT,
    note:
      'No fresh list of Google’s is loaded, so nothing is proven. The one that came with Sallyport may lack a genuine ' +
      'Googlebot, but that comes from a cloud: this policy refuses those that come from a home line, a hosting company or a VPN.',
  }),
  visitor('gptbot', 'GPTBot, whose address proves it', '132.196.86.10', {
    kind: 'Crawlers and agents',
    userAgent: 'GPTBot/1.2',
    note: 'Its address is OpenAI’s, so it is led to the same text as Markdown. A program that only calls itself so is not.',
  }),
  visitor('robots', 'a crawler where robots.txt says no', '5.9.10.30', {
    kind: 'Crawlers and agents',
    userAgent: 'AhrefsBot/7.0',
    paths: ['/drafts/moat'],
  }),
  visitor('token', 'a name that no request carries', '73.162.10.22', {
    kind: 'Crawlers and agents',
    userAgent: 'Google-Extended/1.0',
    note: 'Google-Extended is a word for robots.txt. Google sends no request with it, so a client that does is an impostor.',
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

function times(count: number, path: string): readonly [string, ...string[]] {
  return [path, ...new Array<string>(count - 1).fill(path)]
}
