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

/** Schemes that authenticate a connection and with it all later requests on it (RFC 4559 6, MS-NTHT). */
const SCHEMES = /(?:^|[\s,])(?:ntlm|negotiate|kerberos|nego2)(?=$|[\s,;])/i

/** Reports whether fields (name, value, name, value …) hold such a scheme in the field `name`, which is in lower case. */
export function hasConnectionAuth(fields: readonly string[] | readonly Buffer[], name: string): boolean {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const field = fields[at] as string | Buffer
    if (field.length !== name.length || readText(field).toLowerCase() !== name) continue
    if (SCHEMES.test(readText(fields[at + 1] as string | Buffer))) return true
  }
  return false
}

function readText(value: string | Buffer): string {
  return typeof value === 'string' ? value : value.toString('latin1')
}
