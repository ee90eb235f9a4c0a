import type { Got } from '../api.ts'
import { linkTo } from '../route.ts'
import { count, percent, word } from '../words.ts'
import { Facts } from './pieces.tsx'

/** Shows an autonomous system with its prefixes, and how many of them are on lists. */
export function SystemFacts({ entry }: Pick<Got<`directory/${string}`>, 'entry'>) {
  const share = (part: number): string =>
    entry.rangesLoaded
      ? `${count(part)} of ${count(entry.ipv4Prefixes)} IPv4 prefixes (${percent(part, entry.ipv4Prefixes)})`
      : 'unknown, because no lists are loaded'
  return (
    <>
      <Facts
        rows={[
          [
            'System',
            <a key="s" href={linkTo('directory', { asn: String(entry.asn) })}>
              {entry.label}
            </a>,
          ],
          ['Organisation', entry.org],
          ['Type', word(entry.networkType)],
          ['Prefixes', `${count(entry.ipv4Prefixes)} IPv4, ${count(entry.ipv6Prefixes)} IPv6`],
          ['Addresses', `${count(entry.addresses)} of IPv4`],
          ['In VPN lists', share(entry.vpnRangePrefixes)],
          ['In datacenter lists', share(entry.datacenterRangePrefixes)],
        ]}
      />
      <h3>Largest prefixes</h3>
      <p class="prefixes">
        {entry.samplePrefixes.map(({ prefix }) => (
          <a key={prefix} class="code" href={linkTo('inspect', { target: prefix })}>
            {prefix}
          </a>
        ))}
      </p>
    </>
  )
}
