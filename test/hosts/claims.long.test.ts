import { type Mode, SallyportError, withAttestation } from '@sallyport/core'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forKoa from '@sallyport/koa'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { startHost } from './every-host.ts'
import { HOSTS, type Host } from './hosts.ts'
import { madeScene } from './scene.ts'
import { askAs } from './wire.ts'

/* Every host hands a claim over, waits for its record, and carries out what the two decisions come to. */
const { allowed, flagged, blocked, enforcing, monitoring } = madeScene()

/** A host whose attester is like a real one: US is allowed, KP is blocked, XX is no country, and DOWN cannot be recorded. */
async function startAttesting(t: Test, host: Host, mode: Mode) {
  const claims: string[] = []
  let handed: string | undefined
  const attester = {
    ...(mode === 'enforce' ? enforcing : monitoring),
    config: { mode },
    provenance: {
      async attestDecision(decision: ReturnType<typeof enforcing.decide>, claim: string) {
        if (claim === 'XX') throw new SallyportError('invalid_request')
        if (claim === 'DOWN') throw new SallyportError('attestation_unavailable')
        claims.push(claim)
        const action = claim === 'KP' ? 'block' : 'allow'
        return withAttestation(decision, { id: claims.length, claim, action, reason: 'made' }, mode)
      },
    },
  }
  const at = await startHost(t, host, attester, { provenance: { claim: () => handed } })
  const ask = async ({ address }: { readonly address: string }, claim?: string) => {
    handed = claim
    const { status, headers, body } = await askAs(at, address, '/', ['Sallyport-Attestation-Id', '99'])
    return { status, retry: headers['retry-after'], body: JSON.parse(body) }
  }
  return { ask, claims }
}

for (const host of HOSTS.filter(({ hasNoOptions }) => !hasNoOptions)) {
  t.test(`${host.name}: a claim is recorded before the site sees the request`, async (t) => {
    const { ask, claims } = await startAttesting(t, host, 'enforce')
    for (const claim of [undefined, '']) {
      const { status, body } = await ask(allowed, claim)
      t.equal(status, 200)
      t.equal(body.headers['sallyport-attestation-id'], undefined, 'no claim, and no forged id')
      t.match(body.headers, { 'sallyport-action': 'allow' })
    }
    t.same(claims, [])
    const good = await ask(flagged, 'US')
    t.match(good.body.headers, { 'sallyport-attestation-id': '1', 'sallyport-action': 'flag' })
    const stricter = await ask(allowed, 'KP')
    t.match(stricter, { status: 403, body: { error: 'request_blocked', details: { requestId: /^[\w-]{36}$/ } } })
    t.match(await ask(blocked, 'US'), { status: 403 }, 'blocked as before, and recorded')
    t.same(claims, ['US', 'KP', 'US'])
    t.match(await ask(allowed, 'XX'), { status: 400, body: { error: 'invalid_request' } })
    const down = { status: 503, retry: '5', body: { error: 'attestation_unavailable' } }
    t.match(await ask(allowed, 'DOWN'), down)
  })

  t.test(`${host.name}: monitor mode blocks nothing, and passes what cannot be recorded with a warning`, async (t) => {
    const { ask } = await startAttesting(t, host, 'monitor')
    const blocking = { 'sallyport-action': 'block', 'sallyport-attestation-id': '1' }
    t.match(await ask(allowed, 'KP'), { status: 200, body: { headers: blocking } })
    const warned = new Promise((resolve) => process.once('warning', resolve))
    const { status, body } = await ask(allowed, 'DOWN')
    t.same([status, body.headers['sallyport-action']], [200, 'allow'])
    t.equal(body.headers['sallyport-attestation-id'], undefined)
    t.match(await warned, { message: /passed without attestation/ })
  })
}

t.test('claims are not taken where nobody can attest them', async (t) => {
  const provenance = { claim: () => 'DE' }
  t.throws(() => forExpress.inspection(enforcing, { provenance }), { code: 'invalid_config' })
  t.throws(() => forKoa.inspection(enforcing, { provenance }), { code: 'invalid_config' })
  await t.rejects(async () => Fastify().register(forFastify.inspection, { sallyport: enforcing, provenance }), {
    code: 'invalid_config',
  })
})
