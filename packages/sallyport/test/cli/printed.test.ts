import { readConfigFrom } from '@sallyport/engine'
import { LedgerUnavailable } from '@sallyport/ledger'
import t from 'tap'
import { formatOutcome, OUTCOME_FORMS } from '../../src/cli/commands/policy-outcomes.ts'
import { descriptorNotice } from '../../src/cli/service/announce.ts'
import { faultText } from '../../src/cli/service/faults.ts'

t.test('a failure outside is one line with what it caused, and a bug shows where it is', async (t) => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  t.equal(faultText(full), 'database or disk is full (SQLITE_FULL)')
  const unavailable = new LedgerUnavailable('The ledger could not write.', { cause: full })
  t.equal(faultText(unavailable), 'The ledger could not write: database or disk is full (SQLITE_FULL)')
  t.match(faultText(new TypeError('x is undefined')), /^TypeError: x is undefined\n {4}at /)
  t.match(faultText(new Error('No.', { cause: new RangeError('y') })), /^No: RangeError: y\n {4}at /)
  const thrownAt = (file: string) => {
    const stack = `Error: Terminated.\n    at Client.end (${file}:1:2)\n    at main (a.js:1:1)`
    return faultText(Object.assign(new Error('Terminated.'), { stack }))
  }
  t.equal(thrownAt('/app/node_modules/pg/lib/client.js'), 'Terminated.', 'what a library threw is no bug of ours')
  t.match(thrownAt('/app/node_modules/@sallyport/engine/dist/a.js'), /at Client\.end/)
  t.match(thrownAt('/app/node_modules/sallyport/dist/a.js'), /at Client\.end/)
  t.equal(faultText('late'), 'late')
})

t.test('a start says where connections may need more file descriptors than there are', async (t) => {
  const { config } = readConfigFrom({ env: {} })
  const limits = (count: string) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${count}                 20000                files\n`
  const few = /10000 connections .* need 10256 file descriptors, .* may open only 1024\..*LimitNOFILE/
  t.match(descriptorNotice(config, limits('1024')), few)
  for (const text of [limits('20000'), limits('unlimited'), '']) t.equal(descriptorNotice(config, text), undefined)
})

t.test('a name of several lines or with control characters stays one line, and XML stays well-formed', async (t) => {
  const name = 'a\nnot ok 99 # SKIP\u001b[31m\0"]]><b>&\u2028\uFFFF\uD83D'
  const outcomes = [{ name, passed: false, wrong: ['rule is x, not y\n1..0'], unjudged: [] }]
  const printed = 'a not ok 99 # SKIP [31m "]]><b>& '
  t.equal(
    OUTCOME_FORMS.tap(outcomes),
    ['TAP version 14', '1..1', `not ok 1 - ${printed.replace('#', '\\#')}`, '# rule is x, not y 1..0'].join('\n'),
  )
  const xml = OUTCOME_FORMS.junit(outcomes)
  t.match(xml, 'name="a not ok 99 # SKIP [31m &quot;]]&gt;&lt;b&gt;&amp; "><failure message="rule is x, not y 1..0"/>')
  t.notMatch(xml, /[^\n -~]/)
  t.equal(formatOutcome(outcomes[0] as (typeof outcomes)[0], false), `failed  ${printed}: rule is x, not y 1..0`)
})
