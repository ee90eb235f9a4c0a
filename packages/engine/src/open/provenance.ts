import { SallyportError } from '@sallyport/core'
import type { Provenance, ProvenancePorts } from '#attestation'
import type { Config } from '#config'
import { opensAtStart } from '#service'

/**
 * Attestation as configured. A policy, a key and an existing ledger are checked now; without any of them the first attestation loads
 * the ledger's code. Rejects with `ledger_refused`, `invalid_config` and `invalid_policy`.
 */
export async function openProvenance(config: Config, ports: ProvenancePorts): Promise<Provenance> {
  const load = async (): Promise<Provenance> => (await import('#attestation')).openProvenance(config, ports)
  if (config.provenance.policy !== undefined || opensAtStart(config)) return load()
  let loading: Promise<Provenance> | undefined
  let closed = false
  const loaded = (): Promise<Provenance> => {
    if (closed) throw new SallyportError('attestation_unavailable')
    loading ??= load()
    return loading
  }
  return {
    attest: async (claim) => (await loaded()).attest(claim),
    attestDecision: async (...decided) => (await loaded()).attestDecision(...decided),
    recordCrawl: async (...read) => (await loaded()).recordCrawl(...read),
    evidence: async (...asked) => (await loaded()).evidence(...asked),
    keys: async () => (await loaded()).keys(),
    status: async () => (await loading)?.status(),
    async close() {
      closed = true
      await (await loading)?.close()
    },
  }
}
