import type { OriginAddress } from './address.ts'

/** Fields of a request for an origin, whose servers may each need another Host. */
export interface HandedFields {
  /** Lists name, value, name, value … */
  readonly fields: readonly string[]
  /** Whether each server gets its own name as Host, instead of the client's Host. */
  readonly ownHost?: boolean | undefined
  /** Signs the fields as sent, including Host; absent: nothing is signed. */
  readonly sign?: ((fields: readonly string[]) => string[]) | undefined
}

/** Returns the fields for one server. They always have a Host, so that no code adds one after the signature. */
export function fieldsFor({ fields, ownHost = false, sign }: HandedFields, address: OriginAddress): readonly string[] {
  const sent = ownHost || hostAt(fields) < 0 ? replaceHost(fields, address) : fields
  return sign === undefined ? sent : sign(sent)
}

/** Replaces the client's Host by the name of a server. */
function replaceHost(fields: readonly string[], { url }: OriginAddress): string[] {
  const at = hostAt(fields)
  return at < 0 ? ['Host', url.host, ...fields] : fields.with(at + 1, url.host)
}

/** Returns the index of the name; -1 where there is none. */
function hostAt(fields: readonly string[]): number {
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') return at
  }
  return -1
}
