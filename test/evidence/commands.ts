import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { type ConfigInput, doctor, open, type Sallyport } from '@sallyport/engine'
import type { EvidenceJson } from '@sallyport/ledger'
import type { Test } from 'tap'
import { NO_DATA } from '../no-data.ts'
import { BIN, writeIn } from '../started.ts'

/** Runs a command of Sallyport to its end. */
export function runCommand(...args: readonly string[]) {
  const options = { encoding: 'utf8', maxBuffer: 1 << 26 } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], options)
  return { status, out: stdout, err: stderr }
}

/** Opens a service over a folder of the test, beside a file that holds the same configuration for commands. */
export async function openWithFile(t: Test, given: ConfigInput, options: Parameters<typeof open>[1] = {}) {
  const dataDir = t.testdir()
  const config: ConfigInput = { dataDir, data: { refresh: false, sources: NO_DATA }, ...given }
  const file = writeIn(dataDir, 'sallyport.yaml', JSON.stringify(config))
  const sallyport = await open(config, { onNotice: () => {}, onFault: () => {}, ...options })
  t.teardown(() => sallyport.close())
  return {
    config,
    file,
    sallyport,
    write: (name: string, content: string | Uint8Array) => writeIn(dataDir, name, content),
    findings: async () => (await doctor(config)).filter(({ check }) => check === 'anchors'),
  }
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
