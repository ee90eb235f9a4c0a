export const BROWSER = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36'

/** Returns the fields of a browser's navigation in the browser's order, as they arrive through one proxy. */
export function browserFields(address: string, userAgent = BROWSER): readonly string[] {
  return [
    'Host',
    'example.com',
    'Connection',
    'keep-alive',
    'X-Forwarded-For',
    address,
    'sec-ch-ua',
    '"Chromium";v="142", "Google Chrome";v="142"',
    'sec-ch-ua-mobile',
    '?0',
    'sec-ch-ua-platform',
    '"Windows"',
    'Upgrade-Insecure-Requests',
    '1',
    'User-Agent',
    userAgent,
    'Accept',
    'text/html,application/xhtml+xml,*/*;q=0.8',
    'Sec-Fetch-Site',
    'none',
    'Sec-Fetch-Mode',
    'navigate',
    'Accept-Encoding',
    'gzip, deflate, br, zstd',
    'Accept-Language',
    'en-GB,en;q=0.9',
    'Cookie',
    'session=0123456789abcdef',
  ]
}
