import {
  type Address,
  classify,
  createJurisdictionJudge,
  type Decision,
  findCountry,
  formatAddress,
  type InspectedCountry,
  type InspectedRegion,
  isByPlace,
  type JurisdictionPolicy,
  listFoundRegions,
  type NetworkFinding,
  parseAddress,
  parseJurisdictionPolicy,
  SallyportError,
  type Snapshot,
  type Snapshots,
  withAttestation,
} from '@sallyport/core'
import { JURISDICTIONS } from '@sallyport/data/jurisdictions'
import { type Crawl, type Document, type LedgerStatus, readDocument, type Statement } from '@sallyport/ledger'
import type { AttestedClaim, ProvenanceClaim, ProvenanceService } from '#api'
import { ENGINE_VERSION } from '#datasets/service'
import { readWhole } from '#files'
import { opensAtStart } from '#service'
import type { Settings } from '#settings'
import { parseYaml } from '#settings/yaml'
import { holdLedger, type LedgerHooks } from './ledger-holder.ts'
import { contextText, stateDatasets, stateDegraded, stateFinding } from './statement.ts'

/** Records attestations in this process, for the API and for hosts that inspect requests inline. */
export interface Provenance extends ProvenanceService {
  /**
   * Records the decision on a request that claims to come from `claim`, in the log of `provenance.account`. Returns the stricter of the two
   * decisions, carried out as `mode` says. Throws `attestation_unavailable` and `invalid_request`.
   */
  attestDecision(decision: Decision, claim: string, mode?: Settings['mode']): Promise<Decision>
  /** Records what an operator read within a minute, with the documents that the record names. Throws `attestation_unavailable`. */
  recordCrawl(crawl: Crawl, documents: readonly Document[], addresses: readonly string[]): Promise<void>
  /** Returns how far the ledger is signed; `undefined` while the ledger is closed. */
  status(): Promise<LedgerStatus | undefined>
  /** Signs the records that no checkpoint covers yet and closes the ledger; `close()` of the service calls it. */
  close(): Promise<void>
}

export interface ProvenancePorts extends LedgerHooks {
  readonly snapshots: Snapshots
  /** The region of an address, for claims that name one. */
  findRegion(address: Address, network: NetworkFinding): Promise<InspectedRegion | undefined>
}

/**
 * Opens attestation as configured. It compares an existing ledger with its checkpoints now; the first attestation makes a new ledger.
 * Rejects with `ledger_refused`, `invalid_config` and `invalid_policy`.
 */
export async function openProvenance(config: Settings, ports: ProvenancePorts): Promise<Provenance> {
  const { snapshots } = ports
  const findRegion = async (text: string, network: NetworkFinding) => {
    const address = parseAddress(text)
    return address === undefined ? undefined : ports.findRegion(address, network)
  }
  const policy = readJurisdictionPolicy(config.provenance.policy)
  const policyDocument = readDocument(policy)
  const judge = createJurisdictionJudge(policy)
  const datasetsNow = perSnapshot(stateDatasets)
  const holder = holdLedger(config, ports)
  if (opensAtStart(config)) await holder.open()

  async function record({ log, address, network, country, addressFrom, snapshot, context, ...claimed }: Claimed) {
    const claim = judge.parseClaim(claimed.claim)
    const regions = judge.namesRegion(claim) ? listFoundRegions(claim, await findRegion(address, network)) : undefined
    const judged = judge.judge(claim, { network, country, regions })
    const datasets = datasetsNow(snapshot)
    const degraded = stateDegraded(snapshot)
    const statement: Statement = {
      claim,
      finding: stateFinding(network, country, regions),
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
        log: nameLog(account),
        claim,
        address: formatAddress(address),
        addressFrom: 'request',
        network,
        country: placed(findCountry(address, network, snapshot)),
        snapshot,
        context: context === undefined ? undefined : contextText(context),
      })
      return { attestationId: id, verdict: network.verdict, action }
    },
    async attestDecision(decision, claim, mode = config.mode) {
      const { client, network, countryFrom } = decision.inspection
      const attestation = await record({
        log: nameLog(config.provenance.account),
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
    recordCrawl: (crawl, documents, addresses) =>
      holder.use(async (ledger) => {
        await Promise.all(documents.map(ledger.keep))
        await ledger.crawl(crawl, addresses)
      }),
    evidence: (account, query) => holder.use((ledger) => ledger.evidence(nameLog(account), query)),
    keys: () => holder.use((ledger) => ledger.keys()),
    status: holder.status,
    close: holder.close,
  }
}

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

/** Returns the country that a record may name: the country of registration does not prove where an address is used. */
function placed(country: InspectedCountry | undefined): string | undefined {
  return country !== undefined && isByPlace(country) ? country.code : undefined
}

function nameLog(account: string): string {
  return `t/${account}`
}

/** Remembers the document of the last snapshot, because most calls name the same snapshot. */
function perSnapshot(make: (snapshot: Snapshot) => Document): (snapshot: Snapshot) => Document {
  let last: { readonly snapshot: Snapshot; readonly document: Document } | undefined
  return (snapshot) => {
    if (last?.snapshot !== snapshot) last = { snapshot, document: make(snapshot) }
    return last.document
  }
}

/** Reads the jurisdiction policy, YAML or JSON; without a file it returns the built-in policy. Throws `invalid_policy`. */
export function readJurisdictionPolicy(file: string | undefined): JurisdictionPolicy {
  if (file === undefined) return parseJurisdictionPolicy(JURISDICTIONS)
  let text: string
  try {
    text = readWhole(file)
  } catch (error) {
    throw new SallyportError('invalid_policy', `provenance.policy: ${file} ${(error as Error).message}`)
  }
  const { document, fault } = parseYaml(text)
  if (fault !== undefined) {
    throw new SallyportError('invalid_policy', `provenance.policy: ${file}:${fault.line}: ${fault.message}`)
  }
  return parseJurisdictionPolicy(document.toJS())
}
