import t from 'tap'
import { explainEvent, labelEventReason } from '../../src/index.ts'

t.test('every reason against an event has words for a table', async (t) => {
  const facts = { known: false, dormant: true } as never
  const place = { country: 'DE', network: 'AS3320', confidence: 0.9 }
  const travel = { from: place, to: place, kilometres: 900, minutes: 5, confidence: 0.8 } as never
  const mail = { disposable: true, alias: true, noMx: true, newDomain: true }
  const reasons = [
    ...explainEvent({ judged: { facts, travel, fresh: ['network', 'country', 'browser'] }, mail, domain: 'x.example' }),
    ...explainEvent({ judged: { facts, fresh: [] }, mail }),
  ]
  t.equal(new Set(reasons.map(({ id }) => id)).size, 10)
  for (const { id } of reasons) t.notMatch(labelEventReason(id), /[_:]/, id)
  t.equal(labelEventReason('policy:two:parts'), 'the rule "two:parts"')
  for (const id of ['account:later', 'other:travel', 'unknown'])
    t.equal(labelEventReason(id), id, 'not known, as it is')
})
