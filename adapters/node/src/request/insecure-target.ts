import { absoluteTarget, type HeadFault } from './head-fault.ts'
import type { ReceivedHead } from './node-head.ts'
import type { RequestHost } from './request-host.ts'

/** Refuses a target that names https, over a connection without TLS. */
export const INSECURE: HeadFault = { status: 400, reason: 'The target is https, and the connection is not.' }

/** Reports whether a target in absolute form requests https over a plain connection (RFC 9110 7.4). */
export function isInsecure(host: RequestHost, head: ReceivedHead): boolean {
  // Nearly every target is a path.
  if (head.target.charCodeAt(0) === SLASH) return false
  return absoluteTarget(head.target)?.scheme === 'https' && !isSecured(host, head)
}

const SLASH = 47

/** Reports whether a connection is secured. A trusted proxy has ended TLS, unless it names the scheme http. */
export function isSecured(host: RequestHost, head: ReceivedHead): boolean {
  if (head.scheme !== 'http') return true
  return host.isTrusted?.(head.peer) === true && host.namedScheme?.(head) !== 'http'
}
