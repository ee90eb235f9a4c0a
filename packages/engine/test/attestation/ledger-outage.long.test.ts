import t from 'tap'
import { NO_POSTGRES, startPostgres } from '#stores/testing'
import type { ServiceEvent } from '../../src/service/event.ts'
import { openMade } from '../open/opened.ts'
import { requestFrom } from '../open/requests.ts'

t.test('a ledger whose store is gone is raised once, and that it works again', { skip: NO_POSTGRES }, async (t) => {
  const server = await startPostgres(t)
  const taken: ServiceEvent[] = []
  const events = { raise: (event: ServiceEvent) => void taken.push(event), refused() {} }
  const sallyport = await openMade(t, { store: await server.database() }, { events, onFault: () => {} })
  const attest = () => sallyport.provenance.attestDecision(sallyport.decide(requestFrom('8.1.0.1')), 'DE')
  await attest()
  t.same(taken, [])
  await server.kill()
  for (let request = 0; request < 3; request++) await t.rejects(attest(), { code: 'attestation_unavailable' })
  const records = () => taken.filter(({ about }) => about === 'records')
  t.match(records(), [{ kind: 'ledger', text: /^The ledger stores no records: / }])
  await server.restart()
  while (records().length < 2) await attest().catch(() => new Promise((resolve) => setTimeout(resolve, 50)))
  t.match(records(), [{}, { kind: 'ledger', over: true, text: 'The ledger stores records again.' }])
  const ofSigning = taken.filter(({ about }) => about === 'checkpoints')
  t.ok(ofSigning.length <= 2, 'of failures in a row the first is raised')
})
