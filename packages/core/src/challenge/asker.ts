import { isNamed } from '../address/forwarding.ts'
import { withoutPort } from '../address/without-port.ts'
import { browserFamily } from '../agent/user-agent.ts'
import { hashText } from '../hash-text.ts'
import type { InspectionRequest } from '../values/request.ts'

/** Describes the requested host and program. A pass is bound to both, and not to the address, because people change networks. */
export interface Asker {
  /** The host is in lower case and without port. */
  readonly host: string
  /** Identifies the browser's family, else the first word of the user agent, as a number of 16 bits. */
  readonly browser: number
  /** Transport, version and number of ciphers of JA4 make a number of 16 bits that is not 0; 0 means unknown. */
  readonly tls: number
}

/** No host has a longer name (RFC 1035 section 2.3.4), and a longer user agent adds nothing. */
const MAX_HOST = 255
const MAX_USER_AGENT = 512

/** These characters of JA4 stay the same between connections of a browser; extensions and ALPN change. */
const STEADY_JA4 = 6

export interface AskerParts {
  readonly host: string
  readonly userAgent: string
  readonly ja4: string | undefined
}

export function readAskerParts({ fields, ja4 }: Pick<InspectionRequest, 'fields' | 'ja4'>): AskerParts {
  let host = ''
  let userAgent = ''
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] as string
    if (isNamed(name, 'user-agent')) userAgent = (fields[at + 1] as string).slice(0, MAX_USER_AGENT)
    else if (host === '' && (isNamed(name, 'host') || isNamed(name, ':authority'))) {
      host = (fields[at + 1] as string).slice(0, MAX_HOST)
    }
  }
  return { host, userAgent, ja4 }
}

/** Reports whether parts are short enough to keep: a piece of a longer field would keep the whole field in memory. */
export function areShort({ host, userAgent }: AskerParts): boolean {
  return host.length < MAX_HOST && userAgent.length < MAX_USER_AGENT
}

export function describeAsker({ host, userAgent, ja4 }: AskerParts): Asker {
  return {
    host: withoutPort(host.toLowerCase()),
    browser: numberText(readBrowser(userAgent)),
    tls: ja4 === undefined ? 0 : numberText(ja4.slice(0, STEADY_JA4)) || 1,
  }
}

function readBrowser(userAgent: string): string {
  return browserFamily(userAgent) ?? (userAgent.split(/[/ (]/, 1)[0] as string).toLowerCase()
}

/** Folds a text into 16 bits. Anyone can copy a user agent, so collisions do no harm. */
function numberText(text: string): number {
  const number = hashText(text)
  return (number ^ (number >>> 16)) & 0xffff
}
