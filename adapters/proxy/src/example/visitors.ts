/** Target of a visitor of the example site. */
export interface ExampleAim {
  readonly host: string
  readonly method: 'GET'
  readonly target: string
  readonly scheme: 'http'
}

/** Somebody to be, on the example site and in a terminal. */
export interface ExampleVisitor {
  readonly id: string
  readonly who: string
  readonly address: string
  /** A note for the reader. */
  readonly note?: string | undefined
  /** Absent: curl's own. */
  readonly userAgent?: string | undefined
  /** Further fields that such a visitor sends: name, value, name, value … */
  readonly fields?: readonly string[] | undefined
  /** Fields of a visitor that signs: all of them, made for one request. */
  readonly sign?: ((aim: ExampleAim) => readonly string[]) | undefined
}

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)'
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const BROWSER_FIELDS = [
  'Accept',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language',
  'en-US,en;q=0.5',
  'Accept-Encoding',
  'gzip, deflate',
  'Upgrade-Insecure-Requests',
  '1',
  'Sec-Fetch-Dest',
  'document',
  'Sec-Fetch-Mode',
  'navigate',
  'Sec-Fetch-Site',
  'none',
  'Sec-Fetch-User',
  '?1',
]

/** Visitors on real networks of the named kinds. */
export const EXAMPLE_VISITORS: readonly ExampleVisitor[] = [
  { id: 'home', who: 'a browser on a home line', address: '73.162.10.20', userAgent: BROWSER, fields: BROWSER_FIELDS },
  { id: 'hosting', who: 'a program in a hosting network', address: '5.9.10.20' },
  {
    id: 'vpn',
    who: 'a browser behind a commercial VPN',
    address: '45.83.220.10',
    userAgent: BROWSER,
    fields: BROWSER_FIELDS,
  },
  { id: 'tor', who: 'a browser at a Tor exit', address: '185.220.101.10', userAgent: BROWSER, fields: BROWSER_FIELDS },
  { id: 'googlebot', who: 'Googlebot', address: '66.249.66.1', userAgent: GOOGLEBOT },
  { id: 'forged', who: 'a forged Googlebot on a home line', address: '73.162.10.21', userAgent: GOOGLEBOT },
  {
    id: 'token',
    who: 'a name that Google sends with no request',
    address: '73.162.10.22',
    userAgent: 'Google-Extended/1.0',
  },
  { id: 'gptbot', who: 'GPTBot', address: '132.196.86.10', userAgent: GPTBOT },
]
