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
export function fieldsFor({ fields, ownHost = false, sign }: HandedFields, { url }: OriginAddress): readonly string[] {
  const at = hostAt(fields)
  const own = at < 0 ? ['Host', url.host, ...fields] : ownHost ? fields.with(at + 1, url.host) : fields
  return sign === undefined ? own : sign(own)
}

/** Returns the index of the name; -1 where there is none. */
function hostAt(fields: readonly string[]): number {
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') return at
  }
  return -1
}
