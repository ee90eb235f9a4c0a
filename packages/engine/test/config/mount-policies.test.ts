import t from 'tap'
import { madeConfig } from '../open/made-sources.ts'
import { openService } from '../open/opened.ts'
import { requestFrom } from '../open/requests.ts'

const NOBODY = [{ id: 'nobody', match: { path: ['/**'] }, action: 'block' as const }]

t.test('a mount decides by a policy and a mode of its own, over the data of the service', async (t) => {
  const base = madeConfig(t.testdir())
  const sallyport = await openService(t, { ...base, policy: { allowlist: ['9.9.9.9'] } })
  const visitor = requestFrom('8.2.0.1')
  const closed = sallyport.decider({ policy: NOBODY })
  const watching = sallyport.decider({ policy: { preset: 'observe', rules: NOBODY }, mode: 'monitor' })
  const strict = sallyport.decider({ policy: 'observe' })
  const same = sallyport.decider()
  for (const round of ['first', 'second', 'third']) {
    t.match(sallyport.decide(visitor), { action: 'flag', enforced: true }, round)
    t.match(closed.decide(visitor), { action: 'block', enforced: true, reasons: [{ id: 'policy:nobody' }] }, round)
    t.match(watching.decide(visitor), { action: 'block', enforced: false }, round)
    t.match(strict.decide(visitor), { action: 'allow', reasons: [{ id: 'policy:default' }] }, round)
    t.same(same.decide(visitor).action, 'flag')
  }
  t.equal(closed.decide(visitor).inspection.network, sallyport.decide(visitor).inspection.network, 'one memory')
  t.equal(closed.decide(requestFrom('9.9.9.9')).action, 'allow', "the service's allowlist holds at every mount")
  const bad = (policy: unknown, message: RegExp) =>
    t.throws(() => sallyport.decider({ policy: policy as 'observe' }), { message }, String(message))
  bad('low-frictoin', /policy.preset/)
  bad({ presets: 'observe' }, /unknown key "policy.presets"; did you mean "preset"/)
  bad({ allowlist: ['8.8.8.8'] }, /unknown key "policy.allowlist"/)
  bad([{ id: 'x', match: { country: ['UK'] }, action: 'block' }], /UK.*did you mean "GB"/)

  // Members that a mount leaves out are the service's, also after a reload.
  await sallyport.reload({ ...base, mode: 'monitor', policy: { rules: NOBODY } })
  t.match(same.decide(visitor), { action: 'block', enforced: false })
  t.match(closed.decide(visitor), { action: 'block', enforced: false })
  t.match(strict.decide(visitor), { action: 'allow' })
})
