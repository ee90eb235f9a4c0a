import { readFileSync } from 'node:fs'
import type { AttestedClaim, ProvenanceClaim, ProvenanceService } from '@sallyport/api'
import {
  classify,
  createJurisdictionJudge,
  type Decision,
  formatAddress,
  type Attestation as InlineAttestation,
  type JurisdictionPolicy,
  type NetworkFinding,
  parseJurisdictionPolicy,
  SallyportError,
  type Snapshot,
  type Snapshots,
  withAttestation,
} from '@sallyport/core'
import { JURISDICTIONS } from '@sallyport/data/jurisdictions'
import { type Attestation, canonicalText, type Document, documentOf } from '@sallyport/ledger'
import { parseDocument } from 'yaml'
import type { Config } from '../config/schema.ts'
import { opensAtStart } from './ledger.ts'
import { holdLedger, type LedgerHooks } from './ledger-holder.ts'

/** Attestation in this process: for the API, and for the hosts of inline inspection. */
export interface Provenance extends ProvenanceService {
  /**
   * Records what was decided of a request that claims to come from `claim`, in the log of `provenance.account`; gives
   * the decision with the stricter of the two actions. Throws `attestation_unavailable` and `invalid_request`.
   */
  attestDecision(decision: Decision, claim: string): Promise<Decision>
  close(): Promise<void>
}

export interface ProvenancePorts extends LedgerHooks {
  readonly snapshots: Snapshots
}

const MOST_CONTEXT_BYTES = 8192

/**
 * Attestation as configured. A ledger that has been begun is opened and held against its checkpoints now; one that has
 * not is made by the first attestation. Rejects with `ledger_refused`, `invalid_config` and `invalid_policy`.
 */
export async function openProvenance(config: Config, ports: ProvenancePorts): Promise<Provenance> {
  const { snapshots } = ports
  const policy = readPolicy(config.provenance.policy)
  const policyDocument = documentOf(policy)
  const judge = createJurisdictionJudge(policy)
  const datasetsOf = datasetsHolder()
  const holder = holdLedger(config, ports)
  if (opensAtStart(config)) await holder.open()

  async function record(subject: Claimed): Promise<InlineAttestation> {
    const { log, address, network, country, addressFrom, snapshot, context } = subject
    const claim = judge.parseClaim(subject.claim)
    const judged = judge.judge(claim, { network, country })
    const datasets = datasetsOf(snapshot)
    const degraded = degradedOf(snapshot)
    const attestation: Attestation = {
      claim,
      finding: findingOf(network, country),
      policy: { id: policy.id, sha256: policyDocument.sha256, ...judged },
      basis: {
        engine: ENGINE,
        datasetsSha256: datasets.sha256,
        addressFrom,
        ...(degraded === '' ? {} : { degraded }),
      },
    }
    const { attestationId } = await holder.use(async (ledger) => {
      await Promise.all([ledger.keep(policyDocument), ledger.keep(datasets)])
      return ledger.attest(log, attestation, { address, ...(context === undefined ? {} : { context }) })
    })
    return { id: attestationId, claim, ...judged }
  }

  return {
    async attest({ account, address, claim, context }: ProvenanceClaim): Promise<AttestedClaim> {
      const snapshot = snapshots.current()
      const network = classify(address, snapshot)
      // A record of nothing known, because nothing is loaded, would be a claim about the address.
      if (snapshot.networks === undefined && !network.reserved.reserved) throw new SallyportError('service_unavailable')
      const { id, action } = await record({
        log: logOf(account),
        claim,
        address: formatAddress(address),
        addressFrom: 'request',
        network,
        country: network.reserved.reserved ? undefined : snapshot.countries?.find(address),
        snapshot,
        context: context === undefined ? undefined : contextText(context),
      })
      return { attestationId: id, verdict: network.verdict, action }
    },
    async attestDecision(decision, claim) {
      const { client, network, country } = decision.inspection
      const attestation = await record({
        log: logOf(config.provenance.account),
        claim,
        address: client.address,
        addressFrom: client.via === 'header' ? `header:${config.clientHeader}` : client.via,
        network,
        country,
        snapshot: snapshots.current(),
        context: undefined,
      })
      return withAttestation(decision, attestation, config.mode)
    },
    evidence: (account, query) => holder.use((ledger) => ledger.evidence(logOf(account), query)),
    keys: () => holder.use((ledger) => ledger.keys()),
    close: holder.close,
  }
}

/** Somebody who claims to come from somewhere, and what was found of them. */
interface Claimed {
  readonly log: string
  readonly claim: string
  readonly address: string
  readonly addressFrom: string
  readonly network: NetworkFinding
  readonly country: string | undefined
  readonly snapshot: Snapshot
  readonly context: string | undefined
}

const ENGINE: string = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version

function logOf(account: string): string {
  return `t/${account}`
}

function findingOf({ verdict, asn }: NetworkFinding, country: string | undefined): Attestation['finding'] {
  const { classification, anonymized, method, confidence } = verdict
  return {
    networkOrigin: classification,
    anonymized,
    method,
    confidence,
    ...(country === undefined ? {} : { country }),
    ...(asn === undefined ? {} : { asn }),
  }
}

/** Data that was missing, so that nobody reads "not found" into it later. */
function degradedOf({ networks, countries, rangesLoaded }: Snapshot): string {
  const missing = [
    networks === undefined ? 'asn' : '',
    countries === undefined ? 'geo' : '',
    rangesLoaded ? '' : 'ranges',
  ]
  return missing.filter((name) => name !== '').join(',')
}

function contextText(context: Readonly<Record<string, unknown>>): string {
  let text: string
  try {
    text = canonicalText(context)
  } catch {
    throw new SallyportError(
      'invalid_request',
      'request_context: holds a number that is not finite, or a text that is not Unicode',
    )
  }
  if (Buffer.byteLength(text) > MOST_CONTEXT_BYTES) {
    throw new SallyportError('invalid_request', `request_context: more than ${MOST_CONTEXT_BYTES} bytes`)
  }
  return text
}

/** The data sets of a snapshot as the document that its attestations name; made once a snapshot. */
function datasetsHolder(): (snapshot: Snapshot) => Document {
  let held: { readonly snapshot: Snapshot; readonly document: Document } | undefined
  return (snapshot) => {
    if (held?.snapshot !== snapshot) {
      const loaded = snapshot.sources.filter(({ state }) => state === 'loaded')
      const list = loaded.map(({ id, title, date, entries, sha256 }) => ({ id, title, date, entries, sha256 }))
      held = { snapshot, document: documentOf(list) }
    }
    return held.document
  }
}

/** The policy in the user's file, YAML or JSON, or the one that comes with us. Throws `invalid_policy`. */
function readPolicy(file: string | undefined): JurisdictionPolicy {
  if (file === undefined) return parseJurisdictionPolicy(JURISDICTIONS)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new SallyportError('invalid_policy', `provenance.policy: cannot read ${file}: ${reason}`)
  }
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault !== undefined) throw new SallyportError('invalid_policy', `provenance.policy: ${file}: ${fault.message}`)
  return parseJurisdictionPolicy(document.toJS())
}
