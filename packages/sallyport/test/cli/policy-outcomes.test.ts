import t from 'tap'
import { formatOutcome, OUTCOME_FORMS } from '../../src/cli/commands/policy-outcomes.ts'

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
