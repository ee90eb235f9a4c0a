import { urlHost } from '../../address/hostname.ts'
import { withoutPort } from '../../address/without-port.ts'
import type { Asked } from '../language/asked.ts'

/** Returns the hosts that a request names, as its server may read them: `:authority` of HTTP/2 or Host, without port and last dot. */
export function readHosts(asked: Asked): readonly string[] | undefined {
  if (!asked.keeps('host')) return undefined
  return [...asked.values(':authority'), ...asked.values('host')].map((host) => withoutPort(host).replace(/\.$/, ''))
}

/** Writes a pattern of hosts with its labels in ASCII, as browsers send them (RFC 5890). */
export function asciiHost(pattern: string): string {
  return pattern.startsWith('/') ? pattern : pattern.split('.').map(asciiLabel).join('.')
}

function asciiLabel(label: string): string {
  const isForeign = /[^ -~]/.test(label) && !label.includes('*')
  return (isForeign ? urlHost(`http://${label}`) : undefined) ?? label
}
