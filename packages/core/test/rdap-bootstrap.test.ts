import t from 'tap'
import { parseBootstrap } from '../src/whois/bootstrap.ts'

t.test('a bootstrap file is read, https first, and what is none is refused', async (t) => {
  const file = {
    version: '1.0',
    services: [
      [
        ['COM', 'net'],
        ['http://rdap.example.com/', 'https://rdap.example.com'],
      ],
      [['kg'], ['http://rdap.example.kg/']],
      [['none'], []],
    ],
  }
  t.strictSame(
    [...(parseBootstrap(JSON.stringify(file)) ?? [])],
    [
      ['com', 'https://rdap.example.com/'],
      ['net', 'https://rdap.example.com/'],
      ['kg', 'http://rdap.example.kg/'],
    ],
  )
  for (const text of ['', '{}', '[]', 'null', '{"services":7}', '{"services":[[7]]}', '{"services":[[["a"],[7]]]}']) {
    t.equal(parseBootstrap(text), undefined, text)
  }
})
