import { join } from 'node:path'
import { openSqliteLedger } from '@sallyport/engine'
import { auditLedger, headOf, type LedgerStore } from '@sallyport/ledger'
import { append, MADE_ATTESTATION, madeDraft } from '@sallyport/ledger/testing'
import { verifyEvidence } from '@sallyport/ledger/verify'
import { numberFlag } from './flags.ts'
import { CALLERS, drive } from './ledger-ways.ts'
import { openMadeLedger } from './made-ledger.ts'
import { type Figure, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { quantile } from './report/statistics.ts'

const ROUNDS = 4
const EXPORTS = 40

/**
 * Appends into a growing ledger, and at each size what one append, one export and the audit cost. `--records=N` is how
 * large it becomes: 10000000 takes minutes and 12 GB.
 */
export async function benchCurve(run: Run, folder: string): Promise<void> {
  const largest = numberFlag('records', run.pick(100_000, 1_000))
  const store = await openSqliteLedger(join(folder, 'ledger.db'))
  const figures: Figure[] = []
  try {
    const ledger = await openMadeLedger(store, folder)
    for (let size = 1000; size <= largest; size *= 10) {
      run.step(`a ledger of ${size.toLocaleString('en')} records`)
      await fill(store, size)
      await ledger.checkpoint()
      const rounds: Awaited<ReturnType<typeof drive>>[] = []
      for (let round = 0; round < run.pick(ROUNDS, 1); round++) {
        const keep = () => ledger.attest('t/b', MADE_ATTESTATION, { address: '203.0.113.7' })
        rounds.push(await drive({ name: '', callers: CALLERS, keep }, run))
      }
      const exports: number[] = []
      for (let count = 0; count < EXPORTS; count++) {
        const seq = Math.floor(((count + 0.5) / EXPORTS) * size)
        const [record] = await store.records('t/a', seq, 1)
        const before = performance.now()
        const evidence = await ledger.evidence('t/a', { attestationId: record?.attestationId ?? 0 })
        exports.push(performance.now() - before)
        if (count === 0 && !verifyEvidence(evidence, await ledger.keys()).ok)
          throw new Error('the evidence does not hold')
      }
      const [alone, beside] = [await auditRate(store, false), await auditRate(store, true)]
      const one = { case: 'ledger in SQLite', at: size }
      const perSecond = { unit: 'records/s' } as const
      const p99 = spreadOf(rounds.map(({ times }) => quantile(times, 0.99)))
      figures.push(
        { ...one, ...perSecond, what: 'append', value: spreadOf(rounds.map(({ rate }) => rate)) },
        { ...one, what: 'append, p99', unit: 'ms', value: p99, goal: { atMost: 20 } },
        { ...one, what: 'export', unit: 'ms', value: spreadOf(exports), ...(size === 1e6 && { goal: { atMost: 5 } }) },
        { ...one, ...perSecond, what: 'verify, a core', value: { median: alone, runs: 1 } },
        {
          ...one,
          ...perSecond,
          what: 'verify with addresses, a core',
          value: { median: beside, runs: 1 },
          goal: { atLeast: 50_000 },
        },
      )
    }
  } finally {
    await store.close()
  }
  run.table({ title: 'A ledger as it grows, 64 callers', work: 'records', figures })
}

/** Records that the audit walks in a second of processor time. */
async function auditRate(store: LedgerStore, subjects: boolean): Promise<number> {
  const before = process.cpuUsage()
  const { fault, records } = await auditLedger(store, { subjects })
  const { user, system } = process.cpuUsage(before)
  if (fault !== undefined) throw new Error(fault.reason)
  return Math.round(records / ((user + system) / 1e6))
}

async function fill(store: LedgerStore, size: number): Promise<void> {
  for (let have = (await headOf(store, 't/a'))?.size ?? 0; have < size; ) {
    const count = Math.min(500, size - have)
    await append(
      store,
      Array.from({ length: count }, () => madeDraft('t/a')),
    )
    have += count
  }
}
