import table from './operators.json' with { type: 'json' }

/**
 * One autonomous system whose operator we know. The table distinguishes mobile from fixed, cloud from access and a
 * VPN's own network from hosting, where the registered name does not; a row wins over any name rule.
 */
export interface OperatorRow {
  readonly asn: number
  /** The operator, in words that people recognise; the registered name may be a holding or plainly wrong. */
  readonly name: string
  readonly type: 'hosting' | 'isp' | 'mobile' | 'vpn' | 'tor' | 'education' | 'government' | 'unknown'
  /**
   * Only where it is not the type's own class: `datacenter` for public clouds and delivery networks, `hosting` for a
   * carrier that sells to networks and machines and not to homes, `vpn` for a host whose tenants were mostly VPN exits
   * on the day of the row, which holds where no lists of services are loaded that show it.
   */
  readonly networkClass?: 'datacenter' | 'hosting' | 'vpn' | undefined
  /** Name of the company among its customers. */
  readonly brand?: string | undefined
  /** Says where the row comes from. */
  readonly source: string
  /** Year and month in which the row was last looked at. */
  readonly date: string
}

/** The source of a carrier that has lines and SIM cards under one number. */
export const FIXED_AND_MOBILE = 'known carrier: fixed and mobile'

/** The source of a system whose addresses are each at many places at once. */
export const ANYCAST = 'known service: anycast'

/** The operator table. The file holds one row a line; its `columns` name the fields, and an empty text is absent. */
export const OPERATORS: readonly OperatorRow[] = (table.rows as unknown as readonly Line[]).map(
  ([asn, name, type, networkClass, brand, source, date]) => ({
    asn,
    name,
    type,
    ...(networkClass !== '' && { networkClass }),
    ...(brand !== '' && { brand }),
    source,
    date,
  }),
)

type Line = readonly [
  number,
  string,
  OperatorRow['type'],
  NonNullable<OperatorRow['networkClass']> | '',
  string,
  string,
  string,
]
