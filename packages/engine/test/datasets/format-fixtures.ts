import type { EntryFormat, SystemListFormat } from '@sallyport/data/sources'

/** A small made file of a format, what is in it, and what must not pass for it. */
interface FormatFixture {
  readonly format: EntryFormat
  readonly good: string
  readonly counts: readonly [ipv4: number, ipv6: number]
  readonly made?: string | undefined
  readonly bad: readonly string[]
}

const json = JSON.stringify

export const FORMAT_FIXTURES: readonly FormatFixture[] = [
  {
    format: 'text',
    good: '\uFEFF# Firehol\n; old style\n// another\n23.0.0.0/24\r\n23.0.1.1 # one\n2a00:1::/32\n',
    counts: [2, 1],
    bad: ['23.0.0.0/24/x', '23.0.0', '023.0.0.1', '176.221.42.3254.174.140.223', '23.0.0.1,23.0.0.2'],
  },
  {
    format: 'first-field',
    good: '# IPsum\n23.0.0.1\t10\n23.0.0.2\t1\n',
    counts: [2, 0],
    bad: ['10\t23.0.0.1', 'ip count'],
  },
  {
    format: 'host-port',
    good: '23.0.0.1:8080\n[2a00:1::5]:1080\n23.0.0.3:80\n',
    counts: [2, 1],
    bad: ['proxy.example.org:8080', '23.0.0.1:', '23.0.0.1:80:80'],
  },
  {
    format: 'semicolon',
    good: '# within the day\nip_address;autonomous_system;confidence\n23.0.0.0/24;Made, LLC;1.0\n23.1.0.5;Made;0.7\n',
    counts: [2, 0],
    bad: ['Made;23.0.0.1', '23.0.0.1,Made'],
  },
  {
    format: 'geofeed',
    good: '# RFC 8805\ncidr,country,region,city,postal\n23.0.0.0/24,DE,DE-BE,Berlin,\n2a00:1::/48,DE,,,\n"23.0.1.0/24",FR,,,\n',
    counts: [2, 1],
    bad: ['DE,23.0.0.0/24', '23.0.0.0/24;DE'],
  },
  {
    format: 'range-csv',
    good: 'start,end\n23.0.0.0,23.0.0.9,x\n2a00:1::,2a00:1::ff\n',
    counts: [1, 1],
    bad: ['23.0.0.9,23.0.0.0', '23.0.0.0', '23.0.0.0,2a00::1', '23.0.0.0/24,23.0.0.1'],
  },
  {
    format: 'json',
    good: json({ synthetics: { prefixes_ipv4: ['23.0.0.1/32'], last: '2026-11-20', deep: { ip: '2a00:1::1' } } }),
    counts: [1, 1],
    bad: [json({ error: 'rate limited' }), json('x')],
  },
  {
    format: 'aws',
    good: json({
      syncToken: '1',
      createDate: '2026-11-20-01-02-03',
      prefixes: [
        { ip_prefix: '23.0.0.0/24', region: 'eu', service: 'AMAZON' },
        { ip_prefix: '23.0.0.0/25', region: 'eu', service: 'EC2' },
      ],
      ipv6_prefixes: [{ ipv6_prefix: '2a00:1::/40', region: 'eu' }],
    }),
    counts: [2, 1],
    made: '2026-11-20T01:02:03Z',
    bad: [json({ prefixes: [{ ip_prefix: 5 }] }), json({ prefixes: {} })],
  },
  {
    format: 'aws-origin-facing',
    good: json({
      createDate: '2026-11-20-01-02-03',
      prefixes: [
        { ip_prefix: '23.0.0.0/24', service: 'CLOUDFRONT' },
        { ip_prefix: '23.0.0.0/26', service: 'CLOUDFRONT_ORIGIN_FACING' },
      ],
      ipv6_prefixes: [{ ipv6_prefix: '2a00:1::/56', service: 'CLOUDFRONT_ORIGIN_FACING' }],
    }),
    counts: [1, 1],
    made: '2026-11-20T01:02:03Z',
    bad: [
      json({ prefixes: [{ ip_prefix: '23.0.0.0/24', service: 'CLOUDFRONT' }] }),
      json({ prefixes: [{ ip_prefix: 5, service: 'CLOUDFRONT_ORIGIN_FACING' }] }),
    ],
  },
  {
    format: 'aws-route53-health',
    good: json({
      createDate: '2026-11-20-01-02-03',
      prefixes: [
        { ip_prefix: '23.0.0.0/24', service: 'AMAZON' },
        { ip_prefix: '23.0.0.0/26', service: 'ROUTE53_HEALTHCHECKS' },
        { ip_prefix: '23.0.0.128/26', service: 'ROUTE53_HEALTHCHECKS_PUBLISHING' },
      ],
      ipv6_prefixes: [{ ipv6_prefix: '2a00:1::/56', service: 'ROUTE53_HEALTHCHECKS' }, { ipv6_prefix: '2a00:1::/40' }],
    }),
    counts: [1, 1],
    made: '2026-11-20T01:02:03Z',
    bad: [
      json({ prefixes: [{ ip_prefix: '23.0.0.0/24', service: 'EC2' }] }),
      json({ prefixes: [{ ip_prefix: 5, service: 'ROUTE53_HEALTHCHECKS' }] }),
    ],
  },
  {
    format: 'google',
    good: json({
      creationTime: '2026-11-20T15:00:54.000000',
      prefixes: [{ ipv6Prefix: '2a00:1::/64' }, { ipv4Prefix: '23.0.0.0/27' }],
    }),
    counts: [1, 1],
    made: '2026-11-20T15:00:54Z',
    bad: [json({ prefixes: [{ ipv4Prefix: 'x' }] }), json({ error: { code: 404 } })],
  },
  {
    format: 'azure',
    good: json({
      changeNumber: 1,
      values: [{ name: 'AzureCloud', properties: { addressPrefixes: ['23.0.0.0/16', '2a00:1::/48'] } }],
    }),
    counts: [1, 1],
    bad: [json({ values: [{ properties: { addressPrefixes: ['any'] } }] })],
  },
  {
    format: 'oracle',
    good: json({
      last_updated_timestamp: '2026-11-20T10:00:00.123456',
      regions: [{ region: 'eu', cidrs: [{ cidr: '23.0.0.0/21', tags: ['OCI'] }] }],
    }),
    counts: [1, 0],
    made: '2026-11-20T10:00:00Z',
    bad: [json({ regions: [{ cidrs: ['23.0.0.0/21'] }] })],
  },
  {
    format: 'vultr',
    good: json({ asn: 1, updated: '2026-11-20T10:00:00+00:00', subnets: [{ ip_prefix: '23.0.0.0/22' }] }),
    counts: [1, 0],
    made: '2026-11-20T10:00:00Z',
    bad: [json({ subnets: [] })],
  },
  {
    format: 'fastly',
    good: json({ addresses: ['23.0.0.0/20'], ipv6_addresses: ['2a00:1::/32'] }),
    counts: [1, 1],
    bad: [json({ addresses: '23.0.0.0/20' })],
  },
  {
    format: 'github',
    good: json({ ssh_keys: ['ssh-ed25519 AAAA'], hooks: ['23.0.0.0/22'], actions: ['2a00:1::/56'], domains: {} }),
    counts: [1, 1],
    bad: [json({ message: 'API rate limit exceeded' }), json({ ssh_keys: ['23.0.0.0/22'] })],
  },
  {
    format: 'onionoo',
    good: json({
      relays_published: '2026-11-20 03:00:00',
      relays: [{ or_addresses: ['23.0.0.1:9001', '[2a00:1::9]:9001'], exit_addresses: ['23.0.0.2'] }],
    }),
    counts: [2, 1],
    made: '2026-11-20T03:00:00Z',
    bad: [json({ relays: [{ or_addresses: ['onion:9001'] }] })],
  },
  {
    format: 'mullvad',
    good: json([
      { hostname: 'de-1', ipv4_addr_in: '23.0.0.1', ipv6_addr_in: '2a00:1::1' },
      { ipv4_addr_in: '23.0.0.2', ipv6_addr_in: null },
    ]),
    counts: [2, 1],
    bad: [json([{ hostname: 'de-1' }])],
  },
  {
    format: 'nordvpn',
    good: json([{ station: '23.0.0.1', ips: [{ ip: { ip: '23.0.0.1', version: 4 } }, { ip: { ip: '23.0.0.3' } }] }]),
    counts: [3, 0],
    bad: [json([{ station: '' }])],
  },
  {
    format: 'pia',
    good: `${json({ groups: {}, regions: [{ id: 'de', servers: { wg: [{ ip: '23.0.0.1', cn: 'a' }], meta: [{ ip: '23.0.0.2' }] } }] })}\n\nc2lnbmF0dXJl\n`,
    counts: [2, 0],
    bad: [json({ regions: [{ servers: [] }] })],
  },
  {
    format: 'ivpn',
    good: json({
      wireguard: [{ hosts: [{ host: '23.0.0.1', local_ip: '172.16.0.1/12' }] }],
      openvpn: [{ ip_addresses: ['23.0.0.2'] }],
    }),
    counts: [2, 0],
    bad: [json({ wireguard: [] })],
  },
  {
    format: 'gluetun',
    good: json({
      version: 1,
      mullvad: { version: 2, timestamp: 1, servers: [{ hostname: 'a.example', ips: ['23.0.0.1', '2a00:1::1'] }] },
      'private internet access': { servers: [{ ips: ['23.0.0.2'] }] },
      protonvpn: { servers: [{ ips: ['23.0.0.3'] }] },
    }),
    counts: [2, 1],
    bad: [json({ version: 1, protonvpn: { servers: [{ ips: ['23.0.0.3'] }] } })],
  },
  {
    format: 'airvpn',
    good: json({
      servers: [{ public_name: 'A', ip_v4_in1: '23.0.0.1', ip_v4_in4: '23.0.0.2', ip_v6_in1: '2a00:1::1' }],
    }),
    counts: [2, 1],
    bad: [json({ servers: [{ public_name: 'A' }] })],
  },
  {
    format: 'monosans',
    good: json([{ protocol: 'http', host: '23.0.0.1', port: 80, exit_ip: '23.0.0.9' }]),
    counts: [1, 0],
    bad: [json([{ host: '23.0.0.1' }])],
  },
  {
    format: 'ipverse',
    good: json({ services: { Made: { ipv4: ['23.0.0.1/32'], ipv6: ['2a00:1::1/128'] } } }),
    counts: [1, 1],
    bad: [json({ services: { Made: { website: 'https://example.org' } } })],
  },
  {
    format: 'spamhaus-drop',
    good: '{"cidr":"23.0.0.0/22","sblid":"SBL1","rir":"ripencc"}\n{"cidr":"2a00:1::/32"}\n{"type":"metadata","size":2}\n',
    counts: [1, 1],
    bad: ['{"sblid":"SBL1"}', '{"cidr":"23.0.0.0', '{"type":"metadata"}'],
  },
]

/** As above, of lists of autonomous systems. */
export const SYSTEM_FIXTURES: readonly {
  readonly format: SystemListFormat
  readonly good: string
  readonly systems: readonly (readonly [asn: number, label: string])[]
  readonly bad: readonly string[]
}[] = [
  {
    format: 'asn-text',
    good: 'AS64500 # Made VPN\n\n# a line of its own\nAS64501\n',
    systems: [
      [64500, 'Made VPN'],
      [64501, ''],
    ],
    bad: ['ASX', 'AS4294967296', '23.0.0.1'],
  },
  {
    format: 'csv-asn-name',
    good: 'asn,handle,description\n64500,MADE,"Made, LLC"\nAS64501,Other\n',
    systems: [
      [64500, 'MADE,Made, LLC'],
      [64501, 'Other'],
    ],
    bad: ['Made,64500'],
  },
  {
    format: 'peeringdb',
    good: json({
      data: [
        { asn: 64500, info_type: 'Content' },
        { asn: 64501, info_type: '' },
      ],
    }),
    systems: [
      [64500, 'Content'],
      [64501, ''],
    ],
    bad: [json({ data: [{ info_type: 'NSP' }] }), json({ meta: { error: 'rate limited' } }), '{"data":'],
  },
  {
    format: 'spamhaus-asndrop',
    good: '{"asn":64500,"rir":"arin","asname":"MADE"}\n{"type":"metadata"}\n',
    systems: [[64500, 'MADE']],
    bad: ['{"asn":', '[]', '{"asname":"MADE"}'],
  },
]
