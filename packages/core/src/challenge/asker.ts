import { isNamed } from '../address/forwarding.ts'
import { withoutPort } from '../address/without-port.ts'
import { browserFamily } from '../agent/user-agent.ts'
import { hashText } from '../hash-text.ts'
import type { InspectionRequest } from '../values/request.ts'

/**
 * The host that was asked, and the program that asked it: a pass is bound to both, and not to the address, for people walk
 * from one network to another.
 */
export interface Asker {
  /** The host asked, in lower case and without port. */
  readonly host: string
  /** The browser's family, else the first word of the user agent, as a number of 16 bits. */
  readonly browser: number
  /** Transport, version and number of ciphers of JA4, as a number of 16 bits that is not 0; 0: not known. */
  readonly tls: number
}

/** Longer names are nobody's (RFC 1035 section 2.3.4), and a longer user agent says nothing more. */
const MAX_HOST = 255
const MAX_USER_AGENT = 512

/** Characters of JA4 that do not change from one connection of a browser to the next: extensions and ALPN do. */
const STEADY_JA4 = 6

/** The parts of a request that an asker is read from. */
export interface AskerParts {
  readonly host: string
  readonly userAgent: string
  readonly ja4: string | undefined
}

export function askerPartsOf({ fields, ja4 }: Pick<InspectionRequest, 'fields' | 'ja4'>): AskerParts {
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

/** Whether parts are short enough to be kept: of a longer field they are a piece, which would keep the whole of it. */
export function areShort({ host, userAgent }: AskerParts): boolean {
  return host.length < MAX_HOST && userAgent.length < MAX_USER_AGENT
}

export function askerOf({ host, userAgent, ja4 }: AskerParts): Asker {
  return {
    host: withoutPort(host.toLowerCase()),
    browser: numberOf(browserOf(userAgent)),
    tls: ja4 === undefined ? 0 : numberOf(ja4.slice(0, STEADY_JA4)) || 1,
  }
}

function browserOf(userAgent: string): string {
  return browserFamily(userAgent) ?? (userAgent.split(/[/ (]/, 1)[0] as string).toLowerCase()
}

/** Folded: 16 bits keep nobody from sending another's user agent, so it need not be hard to meet. */
function numberOf(text: string): number {
  const number = hashText(text)
  return (number ^ (number >>> 16)) & 0xffff
}
