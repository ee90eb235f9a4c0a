import { SallyportError } from '@sallyport/core'
import type { Sallyport } from '@sallyport/engine'
import { get } from './route.ts'

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Serves attestations as evidence, which the page verifies itself. */
export const LEDGER_ROWS = [
  get('ledger', {}, async (_, { sallyport }) => {
    const [status, accounts] = await Promise.all([
      sallyport.provenance.status(),
      sallyport.accounts.listAccounts().catch(() => undefined),
    ])
    return {
      // Absent: no attestation exists yet, and opening the ledger would create it.
      status: status ?? null,
      account: sallyport.config.provenance.account,
      accounts: accounts?.map(({ id, name }) => ({ id, name })) ?? null,
    }
  }),
  get(
    'ledger/evidence',
    { takes: ['account', 'id', 'from', 'to'] },
    async ({ asked: { account, ...which }, visitor }, { sallyport: { config, provenance } }) => {
      if (config.log.addresses !== 'full' && visitor.role !== 'admin') {
        throw new SallyportError('forbidden', 'Evidence contains addresses, which log.addresses excludes.')
      }
      await requireLedger(provenance)
      const found = await provenance.evidence(account || config.provenance.account, parseRange(which))
      if (found === undefined) throw new SallyportError('attestation_not_found')
      return found
    },
  ),
  get('ledger/keys', {}, async (_, { sallyport: { provenance } }) => {
    await requireLedger(provenance)
    return provenance.keys()
  }),
]

function parseRange({ id, from = '', to = '' }: Readonly<Partial<Record<'id' | 'from' | 'to', string>>>) {
  if (id) {
    if (!/^[1-9]\d{0,15}$/.test(id)) throw new SallyportError('invalid_request', 'id: not the id of an attestation')
    return { attestationId: Number(id) }
  }
  if (!MOMENT.test(from) || !MOMENT.test(to)) {
    throw new SallyportError('invalid_request', 'from and to: moments as 2026-11-24T12:00:00.000Z')
  }
  return { from, to }
}

async function requireLedger({ status }: Sallyport['provenance']): Promise<void> {
  if ((await status()) === undefined)
    throw new SallyportError('attestation_not_found', 'There are no attestations yet.')
}
