import { type SourceStatus, withAge } from '@sallyport/core'
import { doctor, type Finding, isShippedTable } from '@sallyport/engine'
import type { Share } from '../shares/share.ts'
import { type ConsoleParts, get } from './route.ts'

const FINDINGS_MS = 15_000

const PROCESS: Share<object, { readonly since: number; readonly lostLines: number; readonly loadOn: boolean }> = {
  name: 'process',
  own: (_, { since, sallyport }) => ({ since, lostLines: sallyport.log.lost, loadOn: sallyport.load.isOn }),
}

export function healthRows() {
  let looked: { readonly at: number; readonly findings: Promise<readonly Finding[]> } | undefined
  const listFindings = ({ sallyport }: ConsoleParts, now: number): Promise<readonly Finding[]> => {
    if (looked === undefined || now - looked.at > FINDINGS_MS) looked = { at: now, findings: doctor(sallyport.config) }
    return looked.findings
  }
  return [
    get('health', { shares: [PROCESS] }, async ({ now }, parts) => {
      const { sallyport, gather } = parts
      const [findings, ledger, bans, { shares, silent }] = await Promise.all([
        listFindings(parts, now),
        sallyport.provenance.status().catch(() => undefined),
        sallyport.bans.list().catch(() => undefined),
        gather(PROCESS, {}),
      ])
      return {
        mode: sallyport.config.mode,
        processes: shares.length,
        silent,
        since: Math.min(...shares.map(({ since }) => since)),
        now,
        findings,
        ledger: ledger ?? null,
        bans: bans?.length ?? null,
        load: shares.some((share) => share.loadOn),
        lostLines: shares.reduce((sum, { lostLines }) => sum + lostLines, 0),
        sources: sallyport.sources().map((source) => aged(source, now)),
      }
    }),
  ]
}

/** Returns a source with its age, and whether it is a shipped table that was never updated. */
export function aged(source: SourceStatus, now: number) {
  return { ...withAge(source, now), shipped: isShippedTable(source, now) }
}
