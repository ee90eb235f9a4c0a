import { createHash } from 'node:crypto'
import type { Redeemer } from '../values/challenge.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { Inspection } from '../values/inspection.ts'
import type { NetworkClass } from '../vocabulary.ts'

/** Networks in which one address is many people. */
const SHARED: ReadonlySet<NetworkClass> = new Set<NetworkClass>(['mobile', 'vpn', 'residential_proxy', 'tor'])

/** Brands whose servers are the exits of companies (SASE): thousands of employees browse from one address. */
export const SASE: readonly string[] = ['Zscaler', 'Netskope', 'Cloudflare']

const EXITS: ReadonlySet<string> = new Set(SASE)

/** Whether many people share the address: carrier NAT, VPN, Tor, the network of a university (eduroam), a SASE exit. */
export function isSharedAddress({ verdict, asType, provider }: NetworkFinding): boolean {
  return SHARED.has(verdict.classification) || asType === 'education' || EXITS.has(provider)
}

/** Headers that differ between browsers and not between the requests of one. */
const BROWSER: ReadonlySet<string> = new Set([
  'user-agent',
  'accept-language',
  'accept-encoding',
  'sec-ch-ua',
  'sec-ch-ua-platform',
  'sec-ch-ua-mobile',
])

/** The client of a challenged request: bounds of an address that many share are kept for each browser there. */
export function challengedClient({ client, network }: Inspection, fields: readonly string[]): Redeemer {
  const browser = isSharedAddress(network) ? browserOf(fields) : undefined
  return { address: client.address, network: network.verdict.classification, browser }
}

/** A digest of the headers that distinguish one browser from others. */
export function browserOf(fields: readonly string[]): string {
  const sent: string[] = []
  for (let at = 0; at < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase()
    if (BROWSER.has(name)) sent.push(`${name}:${fields[at + 1]}`)
  }
  return digest(sent.sort().join('\n'))
}

/** Twelve characters that stand for a text, the same in every process. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}
