import {
  classify,
  countryOf,
  createJurisdictionJudge,
  type Decision,
  formatAddress,
  type InspectedCountry,
  isByPlace,
  type JurisdictionPolicy,
  type NetworkFinding,
  parseJurisdictionPolicy,
  SallyportError,
  type Snapshot,
  type Snapshots,
  withAttestation,
} from '@sallyport/core'
import { JURISDICTIONS } from '@sallyport/data/jurisdictions'
import { type Document, documentOf, type LedgerStatus, type Statement } from '@sallyport/ledger'
import { LineCounter, parseDocument } from 'yaml'
import type { AttestedClaim, ProvenanceClaim, ProvenanceService } from '#api'
import { ENGINE_VERSION } from '#datasets/service'
import { readWhole } from '#files'
import { opensAtStart } from '#service'
import type { Settings } from '#settings'
import { yamlFault } from '#settings/yaml'
import { holdLedger, type LedgerHooks } from './ledger-holder.ts'
import { contextText, datasetsOf, degradedOf, findingOf } from './statement.ts'

/** Attestation in this process: for the API, and for the hosts of inline inspection. */
export interface Provenance extends ProvenanceService {
  /**
   * Records what was decided of a request that claims to come from `claim`, in the log of `provenance.account`; gives
   * the decision with the stricter of the two actions, carried out as `mode` says. Throws `attestation_unavailable` and `invalid_request`.
   */
  attestDecision(decision: Decision, claim: string, mode?: Settings['mode']): Promise<Decision>
  /** How far the ledger is signed; `undefined` while it is not open. */
  status(): Promise<LedgerStatus | undefined>
  /** Signs what is not signed yet and closes the ledger; `close()` of the service does it. */
  close(): Promise<void>
}

export interface ProvenancePorts extends LedgerHooks {
  readonly snapshots: Snapshots
}

/**
 * Attestation as configured. An existing ledger is opened and compared with its checkpoints now; a new one is made by
 * the first attestation. Rejects with `ledger_refused`, `invalid_config` and `invalid_policy`.
 */
export async function openProvenance(config: Settings, ports: ProvenancePorts): Promise<Provenance> {
  const { snapshots } = ports
  const policy = readJurisdictionPolicy(config.provenance.policy)
  const policyDocument = documentOf(policy)
  const judge = createJurisdictionJudge(policy)
  const datasetsNow = perSnapshot(datasetsOf)
  const holder = holdLedger(config, ports)
  if (opensAtStart(config)) await holder.open()

  async function record({ log, address, network, country, addressFrom, snapshot, context, ...claimed }: Claimed) {
    const claim = judge.parseClaim(claimed.claim)
    const judged = judge.judge(claim, { network, country })
    const datasets = datasetsNow(snapshot)
    const degraded = degradedOf(snapshot)
    const statement: Statement = {
      claim,
      finding: findingOf(network, country),
      policy: { id: policy.id, sha256: policyDocument.sha256, ...judged },
      basis: {
        engine: ENGINE_VERSION,
        datasetsSha256: datasets.sha256,
        addressFrom,
        ...(degraded === '' ? {} : { degraded }),
      },
    }
    const { attestationId } = await holder.use(async (ledger) => {
      await Promise.all([ledger.keep(policyDocument), ledger.keep(datasets)])
      return ledger.attest(log, statement, { address, ...(context === undefined ? {} : { context }) })
    })
    return { id: attestationId, claim, ...judged }
  }

  return {
    async attest({ account, address, claim, context }: ProvenanceClaim): Promise<AttestedClaim> {
      const snapshot = snapshots.current()
      const network = classify(address, snapshot)
      // Without data a record of "nothing known" would be a statement about the address.
      if (snapshot.networks === undefined && !network.reserved.reserved) throw new SallyportError('service_unavailable')
      const { id, action } = await record({
        log: logOf(account),
        claim,
        address: formatAddress(address),
        addressFrom: 'request',
        network,
        country: placed(countryOf(address, network, snapshot)),
        snapshot,
        context: context === undefined ? undefined : contextText(context),
      })
      return { attestationId: id, verdict: network.verdict, action }
    },
    async attestDecision(decision, claim, mode = config.mode) {
      const { client, network, countryFrom } = decision.inspection
      const attestation = await record({
        log: logOf(config.provenance.account),
        claim,
        address: client.address,
        addressFrom: client.via === 'header' ? `header:${config.clientHeader}` : client.via,
        network,
        country: placed(countryFrom),
        snapshot: snapshots.current(),
        context: undefined,
      })
      return withAttestation(decision, attestation, mode)
    },
    evidence: (account, query) => holder.use((ledger) => ledger.evidence(logOf(account), query)),
    keys: () => holder.use((ledger) => ledger.keys()),
    status: holder.status,
    close: holder.close,
  }
}

/** A claim to come from somewhere, and what was found of the claimant. */
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

/** The country that a record may name: where an address was registered proves nothing of where it is used. */
function placed(country: InspectedCountry | undefined): string | undefined {
  return country !== undefined && isByPlace(country) ? country.code : undefined
}

function logOf(account: string): string {
  return `t/${account}`
}

/** Remembers the document of the snapshot that was last asked for. */
function perSnapshot(make: (snapshot: Snapshot) => Document): (snapshot: Snapshot) => Document {
  let last: { readonly snapshot: Snapshot; readonly document: Document } | undefined
  return (snapshot) => {
    if (last?.snapshot !== snapshot) last = { snapshot, document: make(snapshot) }
    return last.document
  }
}

/** The jurisdiction policy in the user's file, YAML or JSON; without one the built-in policy. Throws `invalid_policy`. */
export function readJurisdictionPolicy(file: string | undefined): JurisdictionPolicy {
  if (file === undefined) return parseJurisdictionPolicy(JURISDICTIONS)
  let text: string
  try {
    text = readWhole(file)
  } catch (error) {
    throw new SallyportError('invalid_policy', `provenance.policy: ${file} ${(error as Error).message}`)
  }
  const lines = new LineCounter()
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines })
  const fault = yamlFault(document)
  if (fault !== undefined) {
    const [offset, message] = fault
    throw new SallyportError('invalid_policy', `provenance.policy: ${file}:${lines.linePos(offset).line}: ${message}`)
  }
  return parseJurisdictionPolicy(document.toJS())
}
