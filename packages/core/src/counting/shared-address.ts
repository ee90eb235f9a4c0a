import { createHash } from 'node:crypto'
import type { Redeemer } from '../values/challenge.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { Inspection } from '../values/inspection.ts'
import type { NetworkClass } from '../vocabulary.ts'

/** In these networks many people share one address. */
const SHARED: ReadonlySet<NetworkClass> = new Set<NetworkClass>(['mobile', 'vpn', 'residential_proxy', 'tor'])

/** These brands run the exits of companies (SASE): thousands of employees browse from one address. */
export const SASE: readonly string[] = ['Zscaler', 'Netskope', 'Cloudflare']

const EXITS: ReadonlySet<string> = new Set(SASE)

/** Reports whether many people share the address: carrier NAT, VPN, Tor, the network of a university (eduroam), a SASE exit. */
export function isSharedAddress({ verdict, asType, provider }: NetworkFinding): boolean {
  return SHARED.has(verdict.classification) || asType === 'education' || EXITS.has(provider)
}

/** These headers differ between browsers and not between the requests of one browser. */
const BROWSER: ReadonlySet<string> = new Set([
  'user-agent',
  'accept-language',
  'accept-encoding',
  'sec-ch-ua',
  'sec-ch-ua-platform',
  'sec-ch-ua-mobile',
])

/** Returns the client of a challenged request: each browser at a shared address has bounds of its own. */
export function challengedClient({ client, network }: Inspection, fields: readonly string[]): Redeemer {
  const browser = isSharedAddress(network) ? readBrowser(fields) : undefined
  return { address: client.address, network: network.verdict.classification, browser }
}

/** Returns a digest of the headers that distinguish one browser from others. */
export function readBrowser(fields: readonly string[]): string {
  const sent: string[] = []
  for (let at = 0; at < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase()
    if (BROWSER.has(name)) sent.push(`${name}:${fields[at + 1]}`)
  }
  return digest(sent.sort().join('\n'))
}

/** Returns twelve characters that represent a text, the same in every process. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}
