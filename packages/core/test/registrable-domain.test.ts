import t from 'tap'
import { registrableDomain } from '../src/whois/domain.ts'
import { splitWords } from './support.ts'

t.test('the domain that was registered, by the public suffix list', async (t) => {
  const pairs = splitWords(`
    example.com=example.com WWW.Example.COM.=example.com a.b.example.co.uk=example.co.uk user.github.io=github.io
    bücher.example.de=example.de www.bücher.de=xn--bcher-kva.de пример.рф=xn--e1afmkfd.xn--p1ai
    example.unheard-of=example.unheard-of
  `).map((pair) => pair.split('='))
  for (const [name = '', domain] of pairs) t.equal(registrableDomain(name)?.domain, domain, name)
  const none = ['com', 'co.uk', 'localhost', 'example', 'a.local', '', '.', 'a..com', '192.0.2.1', '[::1]', 'a b.com']
  const odd = ['example.com\r\n', `${'a'.repeat(64)}.com`, `${'a'.repeat(300)}.com`, '_dmarc.example.com:53']
  for (const name of [...none, ...odd]) t.equal(registrableDomain(name), undefined, name)
  t.equal(registrableDomain('www.bücher.de')?.tld, 'de')
})
