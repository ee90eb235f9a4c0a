import type { OriginAddress } from './address.ts'

/** Fields (name, value, name, value …) with the name of a server in place of the Host that the client asked for. */
export function withHost(fields: readonly string[], { url }: OriginAddress): string[] {
  const kept = fields.slice()
  for (let at = 0; at < kept.length; at += 2) {
    if ((kept[at] as string).toLowerCase() !== 'host') continue
    kept[at + 1] = url.host
    return kept
  }
  return ['Host', url.host, ...kept]
}
