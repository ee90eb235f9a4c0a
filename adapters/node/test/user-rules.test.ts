import type { Rule } from '@sallyport/core'
import t from 'tap'
import type { Decider } from '../src/decider.ts'
import { createInspection } from '../src/inspection/create-inspection.ts'
import { NODE } from '../src/receive.ts'
import { hearWarnings } from './support.ts'

const LIMIT: Rule['limit'] = { key: ['user', 'class'], max: 5, window: '1m' }
const EACH: Rule = { id: 'each-user', match: {}, limit: LIMIT, action: 'throttle' }

function decider(rules: readonly Rule[]): Decider {
  return {
    config: { policy: { rules } },
    decide: () => {
      throw new Error('not asked')
    },
    decider: () => ({ decide: decider([]).decide }),
  }
}

t.test('a rule that counts by a user whom the host does not give is named at start', async (t) => {
  const heard = hearWarnings(t)
  createInspection(NODE, decider([EACH]))
  createInspection(NODE, decider([]), { policy: [{ ...EACH, id: 'of-a-mount' }] })
  createInspection(NODE, decider([EACH]), { identify: () => ({ user: 'ada' }) })
  createInspection(NODE, decider([{ ...EACH, limit: { key: 'client', max: 5, window: '1m' } }]))
  await new Promise((resolve) => setImmediate(resolve))
  const warnings = heard.filter((text) => text.startsWith('SALLYPORT_UNKNOWN_USER '))
  t.match(warnings, ['"each-user"', '"of-a-mount"'])
  t.equal(warnings.length, 2)
})
