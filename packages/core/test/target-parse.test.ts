import fc from 'fast-check'
import t from 'tap'
import { parseHostname } from '../src/address/hostname.ts'
import { describeTarget, type ParsedTarget, parseTarget, type Target } from '../src/address/target.ts'
import { formatAddress, SallyportError } from '../src/index.ts'
import { readShared, skipWithout, splitWords } from './support.ts'

function wire(text: string): Omit<Target, 'raw'> {
  const { raw, ...rest } = describeTarget(parseTarget(text))
  if (raw !== text) throw new Error(`raw is ${raw}, not ${text}`)
  return rest
}

function readRefusal(text: string): string {
  try {
    return `accepted as ${JSON.stringify(parseTarget(text))}`
  } catch (error) {
    return error instanceof SallyportError ? error.code : String(error)
  }
}

t.test('addresses', async (t) => {
  t.same(wire('1.2.3.4'), { kind: 'ipv4', ip: '1.2.3.4' })
  t.same(wire('2001:DB8:0::1'), { kind: 'ipv6', ip: '2001:db8::1' })
  t.same(wire('::ffff:1.2.3.4'), { kind: 'ipv4', ip: '1.2.3.4' }, 'a mapped address is IPv4')
})

t.test('ranges: host bits go, the first address stands for all, wide ones are not counted', async (t) => {
  t.same(wire('1.2.3.4/24'), { kind: 'cidr', ip: '1.2.3.0', network: '1.2.3.0/24', addresses: 256 })
  t.same(wire('1.2.3.4/32'), { kind: 'cidr', ip: '1.2.3.4', network: '1.2.3.4/32', addresses: 1 })
  t.same(wire('10.9.8.7/16'), { kind: 'cidr', ip: '10.9.0.0', network: '10.9.0.0/16', addresses: 65_536 })
  t.same(wire('10.9.8.7/15'), { kind: 'cidr', ip: '10.8.0.0', network: '10.8.0.0/15' })
  t.same(wire('2001:db8::1/112'), { kind: 'cidr', ip: '2001:db8::', network: '2001:db8::/112', addresses: 65_536 })
  t.same(wire('2001:db8::1/111'), { kind: 'cidr', ip: '2001:db8::', network: '2001:db8::/111' })
  t.same(wire('::/0'), { kind: 'cidr', ip: '::', network: '::/0' })
  t.same(wire('::ffff:1.2.3.4/120'), { kind: 'cidr', ip: '1.2.3.0', network: '1.2.3.0/24', addresses: 256 })
})

t.test('hostnames: lower case, A-labels, no trailing dot', async (t) => {
  const pairs = splitWords(`
    WWW.Example.COM.=www.example.com bücher.example=xn--bcher-kva.example XN--BCHER-KVA.example=xn--bcher-kva.example
    中国.中国=xn--fiqs8s.xn--fiqs8s 例え。テスト=xn--r8jz45g.xn--zckzah ｅｘａｍｐｌｅ.com=example.com straße.de=xn--strae-oqa.de
  `).map((pair) => pair.split('='))
  const whole = ['r3---sn-abc.googlevideo.com', `${'a'.repeat(63)}.example`, `${'a.'.repeat(125)}com`]
  for (const [text = '', hostname = text] of [...pairs, ...whole.map((name) => [name])])
    t.same(wire(text), { kind: 'hostname', hostname }, text)
})

t.test('URLs stand for their host, whatever is around it', async (t) => {
  const host = (text: string) => {
    const { ip, hostname } = wire(text)
    return ip ?? hostname
  }
  const table: Readonly<Record<string, string>> = {
    'example.com': `HTTPS://Example.COM:8443/a/b?c=d#e http://ex%61mple.com/ https://example.com/${'a'.repeat(2048 - 20)}`,
    'evil.example': `https://good.example@evil.example/ https://evil.example#@good.example/
      https://evil.example?@good.example/`,
    'xn--bcher-kva.example': 'https://bücher.example/ä redis://b%C3%BCcher.example',
    'git.example': 'ssh://git@Git.Example:2222/repo',
    'db.example': 'postgres://u:p@db.example:5432/name',
    '1.2.3.4': 'http://1.2.3.4:8080/ http://[::ffff:1.2.3.4]/',
    '2001:db8::1': 'http://[2001:db8::1]:8080/path',
    '::1': 'http://user@[::1]:80/',
    // A browser would call these addresses: they are addresses, not names.
    '127.0.0.1': 'http://0x7f.1/ http://①②%37.0.0.1./ gopher://0x7f.1/',
  }
  for (const [expected, urls] of Object.entries(table))
    for (const url of splitWords(urls)) t.equal(host(url), expected, url)
  t.equal(parseTarget('http://[::1]/').kind, 'ipv6')
  t.equal(parseTarget('http://0x7f.1/').kind, 'ipv4')
})

t.test('everything else is invalid_target, and an address is no hostname', async (t) => {
  const texts = [
    // These are neither addresses nor ranges, names that are not public hosts, no names, and no URLs with a host.
    ...splitWords(`
      1.2.3 2130706433 1.2.3.256 １.2.3.4 foo.123 foo.0x1 [::1] ::1%eth0 1.2.3.4:80 example.com:80
      1.2.3.4/33 1.2.3.4/255.255.255.0 example.com/24
      localhost com printer.local db.internal router.home.arpa 4.3.2.1.in-addr.arpa x.onion x.invalid nas.lan
      a..b -a.example a_b.example *.example.com exa\u00admple.com example.com?x example.com/path %65xample.com
      a\\b.example
      http:// http:///example.com //example.com mailto:a@b.example data:text/plain,x file:///etc/passwd http://localhost/
      http://router.home.arpa/ http://a_b.example/ http://[::1 http://[fe80::1%25eth0]/ http://[1.2.3.4]/ http://foo.0x1/
      http://example.com:65536/ http:\\\\example.com\\ http://good.example\\@evil.example/ http://user@/
      http://%00.example/ http://ex%2fample.com/ redis://a%40b.example 1http://example.com
    `),
    ...['', 'exa mple.com', 'exam\tple.com', 'example\0.com', '\ud800.example', "1.2.3.4'; --"],
    ...[`${'a'.repeat(64)}.example`, `aa.${'a.'.repeat(124)}com`, `${'a.'.repeat(126)}com`],
    ...[`https://example.com/${'a'.repeat(2048 - 19)}`, 'a'.repeat(100_000), '['.repeat(100_000)],
  ]
  const wrong = texts.filter((text) => readRefusal(text) !== 'invalid_target')
  t.same(wrong, [])
  t.equal(parseHostname('Example.COM.'), 'example.com')
  for (const text of ['1.2.3.4', '::1', '127.1', 'localhost', '', 'https://example.com'])
    t.equal(parseHostname(text), undefined, text)
})

t.test('any text is either a target or invalid_target, and a parsed one reads the same again', async () => {
  const piece = fc.constantFrom(...splitWords('http:// a 1 . .. : / [ ] @ % %41 xn-- ::1 1.2.3.4 é - 0x'), '\0', ' ')
  const near = fc.array(piece, { maxLength: 12 }).map((all) => all.join(''))
  const text = fc.oneof(near, fc.webUrl(), fc.domain(), fc.string(), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(text, (raw) => {
      let parsed: ParsedTarget
      try {
        parsed = parseTarget(raw)
      } catch (error) {
        return error instanceof SallyportError && error.code === 'invalid_target'
      }
      const again =
        parsed.kind === 'hostname' ? parseTarget(parsed.hostname) : parseTarget(formatAddress(parsed.address))
      return parsed.kind === 'hostname'
        ? again.kind === 'hostname' && again.hostname === parsed.hostname
        : again.kind !== 'hostname' && formatAddress(again.address) === formatAddress(parsed.address)
    }),
    { numRuns: 2000 },
  )
})

const INVALID = 'special/invalid-addresses.json'

t.test('shared vectors hold no target', { skip: skipWithout(INVALID) }, async (t) => {
  const vectors = JSON.parse(readShared(INVALID)) as { input: string }[]
  for (const { input } of vectors) t.equal(readRefusal(input), 'invalid_target', JSON.stringify(input))
})
