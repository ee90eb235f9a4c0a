import type { Decision } from '@sallyport/core'
import t from 'tap'
import { BROWSER, earnPass, readCookie, readSolution, redeem, visit } from './challenge-client.ts'
import { ASK_ALL } from './every-host.ts'
import { HOSTS } from './hosts.ts'
import { openWithoutData } from './without-data.ts'

/* The passes of visitors in the decisions that applications get, and claims of who is asked. */
for (const host of HOSTS.filter(({ hasNoOptions }) => !hasNoOptions)) {
  t.test(`${host.name}: an application reads the pass of its visitor`, async (t) => {
    const sallyport = await openWithoutData(t, {
      policy: { preset: 'observe', rules: [{ ...ASK_ALL, match: { path: ['/asked'] } }] },
    })
    let decided: Decision | undefined
    const onDecision = (decision: Decision): void => {
      decided = decision
    }
    const at = await host.start(sallyport, '', { onDecision })
    t.teardown(() => at.close())
    const seen = async (cookie?: string) => {
      t.equal((await visit(at, { cookie })).status, 200)
      return decided?.inspection.pass
    }
    t.equal(await seen(), undefined)
    t.equal(await seen(`sallyport=${'A'.repeat(52)}`), undefined)
    const pass = await seen(await earnPass(at, { target: '/asked' }))
    t.match(pass, { id: /^[\w-]{11}$/, level: 2 })
    t.ok(pass !== undefined && pass.age >= 0 && pass.age <= 60)
  })

  t.test(`${host.name}: who is asked is not attested, and who comes with the pass is, once`, async (t) => {
    const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: [ASK_ALL] } })
    const at = await host.start(sallyport, '', { provenance: { claim: () => 'US' } })
    t.teardown(() => at.close())
    const page = await visit(at)
    t.equal(page.status, 403)
    const program = ['User-Agent', BROWSER[1] as string, 'Accept', 'application/json']
    t.equal((await visit(at, { fields: program })).status, 403)
    t.equal((await visit(at, { method: 'POST', body: 'a=b' })).status, 403)
    const solution = readSolution(page)
    t.equal((await redeem(at, solution.slice(0, -1))).status, 403)
    const given = await redeem(at, solution)
    t.equal(given.status, 204)
    t.equal(await sallyport.provenance.status(), undefined, 'nothing was let in, and no ledger was made')
    const ids: number[] = []
    for (let call = 0; call < 2; call++) {
      const { status, body } = await visit(at, { cookie: readCookie(given) })
      t.equal(status, 200)
      ids.push(Number(JSON.parse(body).headers['sallyport-attestation-id']))
      t.equal((await visit(at)).status, 403)
    }
    t.equal((ids[1] ?? 0) - (ids[0] ?? 0), 1, 'and nothing between')
  })
}
