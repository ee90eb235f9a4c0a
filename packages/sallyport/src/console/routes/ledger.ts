import { SallyportError } from '@sallyport/core'
import { type Call, type ConsoleParts, type Query, row } from './route.ts'
import { trimText } from './values.ts'

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Serves attestations as evidence, which the page verifies itself. */
export const LEDGER_ROWS = [
  row({
    method: 'GET',
    path: 'ledger',
    role: 'read',
    async answer(_, { sallyport }) {
      const { account } = sallyport.config.provenance
      const [status, accounts] = await Promise.all([
        sallyport.provenance.status(),
        sallyport.accounts.listAccounts().catch(() => undefined),
      ])
      return {
        // Absent: no attestation exists yet, and opening the ledger would create it.
        status: status ?? null,
        account,
        accounts: accounts?.map(({ id, name }) => ({ id, name })) ?? null,
      }
    },
  }),
  row({
    method: 'GET',
    path: 'ledger/evidence',
    role: 'read',
    takes: ['account', 'id', 'from', 'to'],
    answer: evidence,
  }),
  row({
    method: 'GET',
    path: 'ledger/keys',
    role: 'read',
    async answer(_, { sallyport }) {
      await requireLedger(sallyport)
      return sallyport.provenance.keys()
    },
  }),
]

async function evidence({ query, visitor }: Call<'account' | 'id' | 'from' | 'to'>, { sallyport }: ConsoleParts) {
  if (sallyport.config.log.addresses !== 'full' && visitor.role !== 'admin') {
    throw new SallyportError('forbidden', 'Evidence contains addresses, which log.addresses excludes.')
  }
  await requireLedger(sallyport)
  const account = trimText(query.get('account')) || sallyport.config.provenance.account
  const found = await sallyport.provenance.evidence(account, parseQuery(query))
  if (found === undefined) throw new SallyportError('attestation_not_found')
  return found
}

function parseQuery(query: Query<'id' | 'from' | 'to'>) {
  const [id, from, to] = (['id', 'from', 'to'] as const).map((name) => trimText(query.get(name)))
  if (id) {
    if (!/^[1-9]\d{0,15}$/.test(id)) throw new SallyportError('invalid_request', 'id: not the id of an attestation')
    return { attestationId: Number(id) }
  }
  if (!from || !to || !MOMENT.test(from) || !MOMENT.test(to)) {
    throw new SallyportError('invalid_request', 'from and to: moments as 2026-11-24T12:00:00.000Z')
  }
  return { from, to }
}

async function requireLedger({ provenance }: ConsoleParts['sallyport']): Promise<void> {
  if ((await provenance.status()) === undefined)
    throw new SallyportError('attestation_not_found', 'There are no attestations yet.')
}
