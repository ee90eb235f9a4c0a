import { isStale, type SourceStatus } from '@sallyport/core'
import { doctor, type Finding, isShippedTable } from '@sallyport/engine'
import type { Share } from '../shares/share.ts'
import { type ConsoleParts, row } from './route.ts'

/** Findings are looked for again after that. */
const FINDINGS_MS = 15_000

const PROCESS: Share<object, { readonly since: number; readonly lostLines: number; readonly loadOn: boolean }> = {
  name: 'process',
  own: (_, { since, sallyport }) => ({ since, lostLines: sallyport.log.lost, loadOn: sallyport.load.isOn }),
}

export function healthRows() {
  let looked: { readonly at: number; readonly findings: Promise<readonly Finding[]> } | undefined
  const findingsOf = ({ sallyport }: ConsoleParts, now: number): Promise<readonly Finding[]> => {
    if (looked === undefined || now - looked.at > FINDINGS_MS) looked = { at: now, findings: doctor(sallyport.config) }
    return looked.findings
  }
  return [
    row({
      method: 'GET',
      path: 'health',
      role: 'read',
      shares: [PROCESS],
      async answer({ now }, parts) {
        const { sallyport, gather } = parts
        const [findings, ledger, bans, { shares, silent }] = await Promise.all([
          findingsOf(parts, now),
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
      },
    }),
  ]
}

/** A source with its age in seconds, whether it is past it, and whether that is for not having been asked for yet. */
export function aged(source: SourceStatus, now: number) {
  const lastTrue = source.checked ?? source.date
  const age = lastTrue === undefined ? {} : { ageSeconds: Math.round((now - Date.parse(lastTrue)) / 1_000) }
  return { ...source, ...age, stale: isStale(source, now), shipped: isShippedTable(source, now) }
}
