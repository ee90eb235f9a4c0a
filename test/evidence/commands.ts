import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Sallyport } from '@sallyport/engine'
import type { EvidenceJson } from '@sallyport/ledger'
import { BIN } from '../started.ts'

/** Runs a command of Sallyport to its end. */
export function runCommand(...args: readonly string[]) {
  const options = { encoding: 'utf8', maxBuffer: 1 << 26 } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], options)
  return { status, out: stdout, err: stderr }
}

/** Has a decision about a visitor attested; resolves with its ID in the ledger. */
export async function attest({ decide, provenance }: Sallyport): Promise<number> {
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  const { attestation } = await provenance.attestDecision(decide({ ...request, peer: '192.0.2.1' }), 'DE')
  return attestation?.id ?? 0
}

/** Asks for the evidence of an attestation until it is as wanted. */
export async function awaitEvidence(
  { provenance }: Sallyport,
  attestationId: number,
  isWanted: (evidence: EvidenceJson) => boolean,
): Promise<EvidenceJson> {
  for (;;) {
    const evidence = await provenance.evidence('site', { attestationId })
    if (evidence !== undefined && isWanted(evidence)) return evidence
    await delay(100)
  }
}
