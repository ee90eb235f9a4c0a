import type { OriginAddress } from './address.ts'

/** A request's fields for an origin, of which each server may be asked by another Host. */
export interface HandedFields {
  /** Name, value, name, value … */
  readonly fields: readonly string[]
  /** Whether each server is asked by its own name, and not by the one that the client asked for. */
  readonly ownHost?: boolean | undefined
  /** Signs the fields as they are sent, Host among them; absent: nothing is signed. */
  readonly sign?: ((fields: readonly string[]) => string[]) | undefined
}

/** The fields as one server gets them. There is always a Host, so that nobody writes one behind the signature. */
export function fieldsFor({ fields, ownHost = false, sign }: HandedFields, address: OriginAddress): readonly string[] {
  const sent = ownHost || hostAt(fields) < 0 ? withHost(fields, address) : fields
  return sign === undefined ? sent : sign(sent)
}

/** Fields with the name of a server in place of the Host that the client asked for. */
function withHost(fields: readonly string[], { url }: OriginAddress): string[] {
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
