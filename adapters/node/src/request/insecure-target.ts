import { absoluteTarget } from './absolute-target.ts'
import type { HeadFault } from './head-fault.ts'
import type { ReceivedHead } from './node-head.ts'
import type { RequestHost } from './request-host.ts'

/** The fault of a target that names https, over a connection that is not. */
export const INSECURE: HeadFault = { status: 400, reason: 'The target is https, and the connection is not.' }

/** Whether a target in absolute form asks a plain connection for https (RFC 9110 7.4). */
export function isInsecure(host: RequestHost, head: ReceivedHead): boolean {
  // Nearly every target is a path.
  if (head.target.charCodeAt(0) === SLASH) return false
  return absoluteTarget(head.target)?.scheme === 'https' && !isSecured(host, head)
}

const SLASH = 47

/** Whether a connection is secured, or that of a trusted proxy, which ended TLS unless it says that there was none. */
export function isSecured(host: RequestHost, head: ReceivedHead): boolean {
  if (head.scheme !== 'http') return true
  return host.isTrusted?.(head.peer) === true && host.namedScheme?.(head) !== 'http'
}
