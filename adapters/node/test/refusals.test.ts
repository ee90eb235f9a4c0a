import t from 'tap'
import { refusal } from '../src/index.ts'
import { decisionOn } from './support.ts'

const blocked = decisionOn('/blocked')

t.test('a program gets the reason in JSON', (t) => {
  const { status, headers, body } = refusal(blocked, { fields: [] })
  t.equal(status, 403)
  t.equal(headers['content-type'], 'application/json; charset=utf-8')
  t.equal(headers['cache-control'], 'no-store')
  t.same(JSON.parse(body), {
    error: 'request_blocked',
    message: 'This request was blocked by the policy of this site.',
    details: { reasons: ['policy:no-entry', 'network:unknown'] },
  })
  t.notOk('details' in JSON.parse(refusal({ ...blocked, reasons: [] }, { fields: [] }).body), 'no reasons, no details')
  t.end()
})

t.test('HTML for clients that prefer it', (t) => {
  const rows: readonly (readonly [accept: string | undefined, html: boolean])[] = [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['text/html', true],
    ['TEXT/HTML', true],
    ['text/*, application/json;q=0.5', true],
    ['application/json;q=0, */*', true],
    ['text/html;q=0.5, application/json;q=0.4', true],
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/json', false],
    ['application/json, text/html', false],
    ['text/html;q=0.1, */*', false],
    ['text/html;q=0', false],
    ['text/html;q=2', false],
    ['text/html;q=x', false],
    ['text/htmlx', false],
    ['image/avif,*/*;q=0.8', false],
  ]
  for (const [accept, html] of rows) {
    const { headers } = refusal(blocked, { fields: accept === undefined ? [] : ['aCCept', accept] })
    t.equal(headers['content-type']?.startsWith('text/html'), html, String(accept))
  }
  const split = { fields: ['Accept', 'application/json;q=0.5', 'X', 'text/html', 'Accept', 'text/html'] }
  t.ok(refusal(blocked, split).body.startsWith('<!doctype html>'), 'a field that is sent twice is one list')
  t.end()
})

t.test('the page runs nothing, loads nothing, and escapes what it shows', (t) => {
  const reasons = [{ id: `policy:<script>alert("1")</script>&'`, text: '' }]
  const { headers, body } = refusal({ ...blocked, reasons }, { fields: ['Accept', 'text/html'] })
  t.ok(body.includes('<code>policy:&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;</code>'))
  t.notOk(body.includes('<script'))
  t.match(headers['content-security-policy'], /default-src 'none'/)
  t.notMatch(body, /(?:src|href)=/)
  const bare = refusal({ ...blocked, reasons: [] }, { fields: ['Accept', 'text/html'] })
  t.notOk(bare.body.includes('<ul>'))
  t.end()
})
