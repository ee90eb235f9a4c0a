/** A header of a request: name and value, in the order and case in which a tool sends it. */
export type Header = readonly [name: string, value: string]

/** Chrome 156 on Windows sends these headers of a navigation over HTTPS, in its order for HTTP/1.1. */
const CHROME: readonly Header[] = [
  ['sec-ch-ua', '"Chromium";v="156", "Google Chrome";v="156", "Not)A;Brand";v="24"'],
  ['sec-ch-ua-mobile', '?0'],
  ['sec-ch-ua-platform', '"Windows"'],
  ['Upgrade-Insecure-Requests', '1'],
  [
    'User-Agent',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
  ],
  [
    'Accept',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  ],
  ['Sec-Fetch-Site', 'none'],
  ['Sec-Fetch-Mode', 'navigate'],
  ['Sec-Fetch-User', '?1'],
  ['Sec-Fetch-Dest', 'document'],
  ['Accept-Encoding', 'gzip, deflate, br, zstd'],
  ['Accept-Language', 'en-US,en;q=0.9'],
]

/** Picks headers whose names match as a whole. */
function pick(names: string): readonly Header[] {
  return CHROME.filter(([name]) => new RegExp(`^(?:${names})$`).test(name))
}

/** Seven ways in which programs copy a browser, from its user agent alone to all of its headers; `own` copies nothing. */
export const WAYS = {
  own: [],
  'user-agent': pick('User-Agent'),
  'user-agent, accept': pick('User-Agent|Accept'),
  'user-agent, language': pick('User-Agent|Accept-Language'),
  'user-agent, accept, language, encoding': pick('User-Agent|Accept.*'),
  'client hints': pick('sec-ch-.*|User-Agent|Accept.*'),
  'fetch metadata': [...pick('User-Agent|Accept.*'), ...pick('Sec-Fetch-.*')],
  all: CHROME,
} as const satisfies Readonly<Record<string, readonly Header[]>>

export type Way = keyof typeof WAYS

/** The table has these ways: under its own name, with a browser's user agent, and with all of its headers. */
export const MODES = ['own', 'user-agent', 'all'] as const satisfies readonly Way[]
