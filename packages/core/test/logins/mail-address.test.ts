import fc from 'fast-check'
import t from 'tap'
import { foldIdentifier, parseMailAddress } from '../../src/logins/mail-address.ts'

t.test('spellings of one mailbox are one, by the rules of its provider', async (t) => {
  for (const [given, mailbox] of [
    ['A.d.a+shop@GoogleMail.com', 'ada@gmail.com'],
    ['a.da@outlook.com', 'a.da@outlook.com'],
    ['shop@ada.fastmail.com', 'ada@fastmail.com'],
    ['ada+x@me.com', 'ada@icloud.com'],
    ['a.d-a_+x@pm.me', 'ada@proton.me'],
    ['ada-shop@yahoo.com', 'ada@yahoo.com'],
    ['ada+shop@corp.example', 'ada+shop@corp.example'],
    ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
    ['ａｄａ＠corp。example', 'ada@corp.example'],
    [' \u00a0ada@corp.example\n', 'ada@corp.example'],
    ['a\u200bda@corp\u00ad.example\u2060', 'ada@corp.example'],
    ['"a.da+shop"@gmail.com', 'ada@gmail.com'],
    ['ada(one (in another))@corp.example', 'ada@corp.example'],
    ['Ada <ada@corp.example>', 'ada@corp.example'],
    [`"Ada <1> ${'x'.repeat(400)}" < A.da+1@gmail.com > `, 'ada@gmail.com'],
  ] as const)
    t.equal(parseMailAddress(given)?.mailbox, mailbox, given)
  t.equal(parseMailAddress('a.da@gmail.com')?.isAlias, true)
  t.equal(parseMailAddress('ada@gmail.com')?.isAlias, false)
  const hosts = Array.from({ length: 20_000 }, () => parseMailAddress('ada@b\u00fccher.example')?.host)
  t.same(new Set(hosts), new Set(['xn--bcher-kva.example']), 'also where the parser is compiled')
  const corp = { host: 'mail.corp.co.uk', domain: 'corp.co.uk', isAtProvider: false }
  t.match(parseMailAddress('ada@mail.corp.co.uk'), corp)
})

t.test('numbered mailboxes have one stem, and numbers have none', async (t) => {
  for (const [given, stem] of [
    ['ada1@corp.example', 'ada@corp.example'],
    ['a.d.a_17+x2@corp.example', 'adax@corp.example'],
    ['a.da19+shop@googlemail.com', 'ada@gmail.com'],
    ['ЕЛЕНА7@corp.example', 'елена@corp.example'],
    ['12345678@qq.example', undefined],
    ['ab123@uni.example', undefined],
  ] as const)
    t.equal(parseMailAddress(given)?.stem, stem, given)
})

t.test('letters that look like others stay others, and no text is slow or throws', async (t) => {
  t.not(foldIdentifier('аda@gmail.com'), foldIdentifier('ada@gmail.com'), 'a Cyrillic letter')
  t.not(parseMailAddress('ada@gmаil.com')?.mailbox, 'ada@gmail.com')
  t.equal(foldIdentifier(' ADA '), 'ada')
  t.equal(foldIdentifier(`${' '.repeat(2_000)}ada`), 'ada')
  t.equal(foldIdentifier('Ｅlena'), foldIdentifier('elena'))
  t.equal(foldIdentifier('e\u0301lan'), foldIdentifier('\u00e9lan'), 'composed and decomposed')
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void foldIdentifier(text)))
  const began = performance.now()
  t.ok(foldIdentifier('\ufdfa'.repeat(1_000_000)).length < 20_000, 'a letter that is eighteen when it is folded')
  t.ok(foldIdentifier('@'.repeat(1_000_000)).length <= 1_024)
  t.ok(performance.now() - began < 5_000)
})

t.test('what is no mail address is a name', async (t) => {
  const parts = ['', 'ada', '@x.example', 'ada@', 'ada@host', '\u200b@x.example', 'a\u0000@x.example', 'a@x/y.example']
  const blanks = ['a b@x.example', '"a" b@x.example', 'a@x .example', 'Ada <>', 'Ada <ada@x.example> and more']
  for (const text of [...parts, ...blanks, `${'a'.repeat(400)}@x.example`])
    t.equal(parseMailAddress(text), undefined, JSON.stringify(text.slice(0, 20)))
})
