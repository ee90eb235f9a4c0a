import { type InspectionRequest, PRESET_NAMES, type PresetName } from '@sallyport/core'
import { createFakeCountries, createFakeNetworks, makeSnapshots, makeSystem } from '@sallyport/core/testing'
import { makeInspector } from '../inspector.ts'
import { code, joinAlike, table } from './markdown.ts'

type Headers = Readonly<Record<string, string>>

const CHROME_TEXT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'
const WEBVIEW_TEXT =
  'Mozilla/5.0 (Linux; Android 16; Pixel 9 Build/BP2A.250605.031; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/150.0.0.0 Mobile Safari/537.36'

const NAVIGATION: Headers = {
  'Upgrade-Insecure-Requests': '1',
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'Sec-Fetch-Site': 'none',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-User': '?1',
  'Sec-Fetch-Dest': 'document',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Accept-Language': 'en-US,en;q=0.9',
}

function writeHints(brand: string, platform: string): Headers {
  return {
    'sec-ch-ua': `"Chromium";v="150", "${brand}";v="150", "Not.A/Brand";v="99"`,
    'sec-ch-ua-mobile': platform === 'Android' ? '?1' : '?0',
    'sec-ch-ua-platform': `"${platform}"`,
  }
}

/** Visitors of the table of policy.md, with the headers that each sends over https. */
export const VISITORS: Readonly<Record<string, Headers>> = {
  'a copied user agent only': { 'User-Agent': CHROME_TEXT, Accept: '*/*' },
  'no user agent': { Accept: '*/*' },
  'a browser, or all headers of one': {
    ...writeHints('Google Chrome', 'Windows'),
    'User-Agent': CHROME_TEXT,
    ...NAVIGATION,
  },
  'a headless browser': {
    ...writeHints('HeadlessChrome', 'Windows'),
    'User-Agent': CHROME_TEXT.replace('Chrome/', 'HeadlessChrome/'),
    ...NAVIGATION,
  },
  'a WebView': { ...writeHints('Android WebView', 'Android'), 'User-Agent': WEBVIEW_TEXT, ...NAVIGATION },
}

const NETWORKS = { home: '8.1.1.1', VPN: '8.3.1.1', hosting: '8.2.1.1' } as const
type Place = keyof typeof NETWORKS

const SNAPSHOTS = makeSnapshots({
  networks: createFakeNetworks([
    ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, type: 'isp', networkClass: 'residential_clean' }) }],
    ['8.2.0.0/16', { system: makeSystem({ asn: 64_502, type: 'hosting', networkClass: 'hosting' }) }],
    ['8.3.0.0/16', { system: makeSystem({ asn: 64_503, type: 'vpn', networkClass: 'vpn' }) }],
  ]),
  // jurisdiction-strict refuses everybody whose country is not looked up.
  countries: createFakeCountries(Object.fromEntries(Object.values(NETWORKS).map((address) => [address, 'DE']))),
  rangesLoaded: true,
})

export function decideVisitor(preset: PresetName, headers: Headers, place: Place): string {
  const inspector = makeInspector({ preset, rules: [] }, { snapshots: SNAPSHOTS })
  const fields = Object.entries({ Host: 'site.example', ...headers }).flat()
  const about = { method: 'GET', target: '/', scheme: 'https', httpVersion: '2.0' } as const
  const request: InspectionRequest = { peer: NETWORKS[place], fields, ...about }
  return inspector.decide(request).action
}

/** Writes the effect of each preset on each visitor. Networks, and then visitors, with the same effects share a row. */
export function visitors(): string {
  const presets = PRESET_NAMES.filter((preset) => preset !== 'observe')
  const rows = Object.entries(VISITORS).flatMap(([visitor, headers]) => {
    const decideAll = (place: Place) => [place, ...presets.map((preset) => decideVisitor(preset, headers, place))]
    return joinAlike((Object.keys(NETWORKS) as Place[]).map(decideAll)).map((cells) => [visitor, ...cells])
  })
  return table(['visitor over https', 'from', ...presets.map(code)], joinAlike(rows))
}
