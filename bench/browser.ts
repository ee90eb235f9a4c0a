import type { InspectionRequest } from '@sallyport/core'

export const BROWSER = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36'

/** Returns the fields of a browser's navigation in the browser's order, as they arrive through one proxy. */
export function browserFields(address: string, userAgent = BROWSER): readonly string[] {
  return Object.entries({
    Host: 'example.com',
    Connection: 'keep-alive',
    'X-Forwarded-For': address,
    'sec-ch-ua': '"Chromium";v="142", "Google Chrome";v="142"',
    'sec-ch-ua-mobile': '?0',
    'sec-ch-ua-platform': '"Windows"',
    'Upgrade-Insecure-Requests': '1',
    'User-Agent': userAgent,
    Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    'Sec-Fetch-Site': 'none',
    'Sec-Fetch-Mode': 'navigate',
    'Accept-Encoding': 'gzip, deflate, br, zstd',
    'Accept-Language': 'en-GB,en;q=0.9',
    Cookie: 'session=0123456789abcdef',
  }).flat()
}

/** Returns the fields of a browser with more cookies in their last field. */
export function addCookies(fields: readonly string[], cookies: string): readonly string[] {
  return [...fields.slice(0, -1), `${fields.at(-1)}; ${cookies}`]
}

/** Returns a request for `/` by a client on this machine, but for the members that are given. */
export function makeRequest(given: Partial<InspectionRequest>): InspectionRequest {
  return { peer: '127.0.0.1', method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [], ...given }
}

/** Returns the names of fields with their values. */
export function pairFields(fields: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? ''] as const] : []))
}
