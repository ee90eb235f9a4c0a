import { z } from 'zod'
import { NetworkClass } from './words.ts'

const networkFields = {
  isTor: z.boolean(),
  networkClass: NetworkClass,
  anonymized: z.boolean().meta({ description: 'True when the class means deliberate anonymisation.' }),
  provider: z.string().meta({ description: 'Brand of the service; empty when none is known.' }),
  riskScore: z.int().min(0).max(100),
}

const ANONYMISERS = 'True only for `vpn`, `residential_proxy` and `tor`.'

/** Specification: VpnResponse. */
export const VpnResponse = z
  .object({ ip: z.string(), isVpn: z.boolean().meta({ description: ANONYMISERS }), ...networkFields })
  .meta({ id: 'VpnResponse' })
export type VpnResponse = z.output<typeof VpnResponse>

/** Specification: ProxyResponse. */
export const ProxyResponse = z
  .object({ ip: z.string(), isProxy: z.boolean().meta({ description: ANONYMISERS }), ...networkFields })
  .meta({ id: 'ProxyResponse' })
export type ProxyResponse = z.output<typeof ProxyResponse>
