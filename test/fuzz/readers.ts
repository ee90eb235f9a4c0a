import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { computeJa4, parseRobots, SallyportError } from '@sallyport/core'
import { SOURCES } from '@sallyport/data/sources'
import { countEntries, parseWhoisText, readPolicyTests } from '@sallyport/engine'
import { writeMmdb } from '@sallyport/engine/testing'
import fc from 'fast-check'
import { makeFolder } from '../started.ts'
import { mutated, mutatedText } from './mutations.ts'
import { type FuzzTarget, fuzzTarget, inTime } from './target.ts'

/* Readers of bytes in this process: each answers or throws one of the known errors, and takes no longer than it may. */

/** A TLS client of Windows: a version, suites, a server name and the extensions that a fingerprint is made of. */
const HELLO = Buffer.from(
  '010000b4030364960ddb84e92e8d5a9be477e2f7112257269dc742143793732813c25ec65af0000026c02cc02bc030c02fc024c023c028c027c00ac009c014' +
    'c013009d009c003d003c0035002f000a010000650000001b0019000016646973636f766572792e63656d2e636c6f75642e7573000500050100000000000a000' +
    '80006001d00170018000b00020100000d001a00180804080508060401050102010403050302030202060106030023000000170000ff01000100',
  'hex',
)

const helloTarget = fuzzTarget<Buffer>('ClientHello', async () => ({
  inputs: mutated([HELLO]),
  check(input) {
    if (computeJa4(HELLO) === undefined) throw new Error('the good one is not read')
    for (const transport of ['tcp', 'quic', 'dtls'] as const) {
      const found = inTime('a hello', () => computeJa4(input, transport))
      if (found !== undefined && !/^[tqd][0-9a-z]{9}_[0-9a-f]{12}_[0-9a-f]{12}$/.test(found)) throw new Error(found)
    }
  },
}))

const WHOIS = [
  'Domain Name: EXAMPLE.COM\r\nRegistrar: Made Registrar, Inc.\r\nCreation Date: 1995-08-14T04:00:00Z\r\nRegistry Expiry Date: 2027-08-13T04:00:00Z\r\nDomain Status: clientTransferProhibited https://icann.org/epp\r\nName Server: A.IANA-SERVERS.NET\r\n>>> Last update <<<\r\n',
  'domain:       made.example\nstatus:       registered\nregistered:   14.2.2001\nexpires....: 14/02/2028\nnserver......: ns1.made.example (192.0.2.1)\n\n[Registrant]\nName: Somebody\n',
  'No match for "NOBODY.EXAMPLE".\r\n% This query returned 0 objects.\r\n',
  '   Domain:\n      made.example\n   Registered: 2001. 02. 14.\n   Name servers:\n      ns1.made.example\n      ns2.made.example\n',
]

const whoisTarget = fuzzTarget<string>('WHOIS answers', async () => ({
  inputs: mutatedText(WHOIS),
  check: (input) => void inTime('an answer', () => JSON.stringify(parseWhoisText(input))),
}))

const FEEDS = {
  'x4bnet-vpn-ipv4': '# made\n8.2.7.0/24\n8.2.8.1\n9.0.0.0-9.0.0.255\n',
  'avastel-1day': 'ip;autonomous_system;confidence\n8.2.7.1;AS1;0.9\n8.2.7.2;AS2;0.8\n',
  aws: '{"createDate":"2026-11-20-01-02-03","prefixes":[{"ip_prefix":"8.2.0.0/16","service":"EC2"}],"ipv6_prefixes":[{"ipv6_prefix":"2a00:1::/40"}]}',
  'rdap-dns': '{"services":[[["example","made"],["https://rdap.example/"]]]}',
  'asn-csv-v4': '8.2.0.0,8.2.255.255,64500,Made Hosting\n8.3.0.0,8.3.255.255,64501,"Made, Inc."\n',
  'asn-country-v4': '8.2.0.0,8.2.255.255,DE\n8.3.0.0,8.3.255.255,US\n',
}

const BERLIN = { city: { names: { en: 'Berlin' } }, location: { latitude: 52.5, longitude: 13.4 } }
const MMDB = writeMmdb(
  { '8.2.0.0/16': { country: { iso_code: 'DE' }, ...BERLIN }, '9.0.0.0/8': { country: { iso_code: 'US' } } },
  { ipVersion: 4 },
)

/** Files of every kind that are downloaded: such a file is counted, or refused as corrupt. */
function feedsTarget(name: string, seeds: Readonly<Record<string, string | Buffer>>): FuzzTarget {
  return fuzzTarget<readonly [source: string, content: Buffer]>(name, async () => {
    const path = join(makeFolder(), 'feed')
    const made = Object.entries(seeds).map(([source, seed]) =>
      mutated([Buffer.from(seed as string)]).map((content) => [source, content] as const),
    )
    return {
      inputs: fc.oneof(...made),
      check([source, content]) {
        const row = SOURCES.find(({ id }) => id === source)
        if (row === undefined) throw new Error(`no source ${source}`)
        writeFileSync(path, content)
        allowCodes(['corrupt_data'], () => inTime(source, () => countEntries(row, path)))
      },
    }
  })
}

const POLICY = `policy:
  preset: protect-content
  default: allow
  allowlist: [192.0.2.0/24]
  rules:
    - { id: a, match: { path: [/admin/**, "/x/*.pdf"], country: [DE, unknown], method: [GET] }, action: block }
    - { id: b, match: { time: { from: "22:00", to: "06:00", zone: Europe/Berlin } }, action: flag, monitor: true }
    - { id: c, match: {}, action: throttle, limit: { key: [client, asn], max: 10, window: 1m, kind: bucket, burst: 3 } }
  strikes: { count: 3, window: 10m, on: [blocked, "status:401"], for: 15m }
tests:
  - name: made
    request: { ip: 8.8.8.8, path: /admin/x, userAgent: GPTBot/1.2 }
    expect: { action: block, rule: a }
`

const policyTarget = fuzzTarget<string>('policy files', async () => {
  const path = join(makeFolder(), 'policy.yaml')
  return {
    inputs: mutatedText([POLICY]),
    check(input) {
      writeFileSync(path, input)
      allowCodes(['invalid_config', 'invalid_policy'], () => inTime('a policy', () => readPolicyTests(path)))
    },
  }
})

function allowCodes(codes: readonly string[], work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof SallyportError) || !codes.includes(error.code)) throw error
  }
}

const ROBOTS = [
  'User-agent: GPTBot\nUser-agent: b\nDisallow: /a*b$\nAllow: /%61/ツ?x\n\nSitemap: https://site.example/map.xml\n',
  '\ufeffuser-agent: *\r\nCrawl-delay: 1\r\ndisallow: /*/*/*\r\nDisallow: # none\r\n',
]

const robotsTarget = fuzzTarget<string>('robots.txt', async () => ({
  inputs: mutatedText(ROBOTS),
  check(input) {
    const { refuses } = inTime('a file', () => parseRobots(input))
    for (const target of ['/a/b', '/robots.txt', input]) inTime('a target', () => refuses('GPTBot/1.0 *', target))
    if (refuses('GPTBot/1.0', '/robots.txt')) throw new Error('nobody may read it')
  },
}))

export const READERS: readonly FuzzTarget[] = [
  helloTarget,
  whoisTarget,
  robotsTarget,
  feedsTarget('feeds', FEEDS),
  feedsTarget('MMDB files', { 'dbip-city-v4': MMDB }),
  policyTarget,
]
