import t from 'tap'
import { parseWhoisText } from '../../src/whois/parse-text.ts'

t.test('a known label goes before one that was guessed, wherever it stands', async (t) => {
  const known = 'Expires: 2031-02-03\nRegistrar: A Registrar\nName Server: ns1.example.net'
  const guessed = 'Renewed until: 2029-01-01\nCurrent registrar of it: Another\nThe hosting server: www.example.net'
  for (const text of [`${guessed}\n${known}`, `${known}\n${guessed}`]) {
    const record = { registrar: 'A Registrar', expiresOn: '2031-02-03', nameservers: ['ns1.example.net'] }
    t.match(parseWhoisText(text), { state: 'registered', record })
  }
  t.match(parseWhoisText(guessed), { record: { registrar: 'Another', expiresOn: '2029-01-01' } })
})

t.test('a list of servers is one where every line is', async (t) => {
  const read = (text: string, domain?: string) => parseWhoisText(text, domain).state
  t.equal(read('example ns1.example.net', 'example.to'), 'registered')
  t.equal(read('example ns1.example.net'), 'unreadable')
  t.equal(read('Server 1.0\nns1.example.net 192.0.2.1\nns2.example.net 2001:db8::1'), 'registered')
  t.equal(read('visit www.example.net', 'example.to'), 'unreadable')
  t.equal(read('example ns1.example.net\nexample ns2.example.net\nsee the terms of use', 'example.to'), 'unreadable')
  t.equal(read('example ns1.example.net\nother ns1.example.net', 'example.to'), 'unreadable')
})
