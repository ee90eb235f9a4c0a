import type { ListKind } from '@sallyport/data/list-ages'
import type { SourceRow } from '@sallyport/data/sources'

/** The kind decides how a source ages; for ranges and addresses the class does too. */
const BY_KIND: Readonly<Record<SourceRow['kind'], ListKind>> = {
  asn: 'route',
  'asn-country': 'route',
  country: 'route',
  city: 'route',
  geofeed: 'route',
  rdap: 'route',
  ranges: 'range',
  addresses: 'range',
  'asn-list': 'range',
  'line-names': 'range',
  crawler: 'crawler',
  'front-end': 'crawler',
  abuse: 'proxy',
  'throwaway-mail': 'mail',
}

/** Returns how a source ages. */
export function listKind({ ages, kind, networkClass }: Pick<SourceRow, 'ages' | 'kind' | 'networkClass'>): ListKind {
  if (ages !== undefined) return ages
  if (networkClass === 'tor') return 'tor'
  if (networkClass === 'residential_proxy') return 'proxy'
  return networkClass === 'vpn' && kind === 'addresses' ? 'service' : BY_KIND[kind]
}
