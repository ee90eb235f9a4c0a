import serialize from 'canonicalize'
import type { RecordedPreference, RecordedRow } from './verify/crawl-form.ts'
import { commitment, sha256Hex } from './verify/hash.ts'
import { CRAWL_VERSION, RECORD_VERSION, REGION_VERSION, type RecordPlace } from './verify/record.ts'

/** Personal data of a record, kept beside the chain so that it can be erased without touching it. */
export interface Subject {
  /** Holds the canonical text of the address (RFC 5952). */
  readonly address: string
  /** 32 random bytes, drawn for this record: without them the address cannot be found by trying all addresses. */
  readonly salt: Uint8Array
  /** Holds canonical JSON of the request's context; absent if the request gave none. */
  readonly context?: string | undefined
}

/** Holds a record without a place in its log. */
export interface Draft {
  /** Names the log inside its ledger: `t/<account>`, `keys`. Each account has its own log, so that a missing end is noticed. */
  readonly log: string
  /** Counts milliseconds since the epoch. */
  readonly at: number
  /** Holds the members that do not depend on the place: texts, integers, and objects of them whose names are in canonical order. */
  readonly members: object
  readonly subject?: Subject | undefined
}

/** Holds the content of one attestation; packages/sallyport/docs/evidence.md#records-and-evidence describes the record's form. */
export interface Statement {
  readonly claim: string
  readonly finding: {
    readonly networkOrigin: string
    readonly anonymized: boolean
    readonly method: string
    /** 0 to 1; recorded in basis points. */
    readonly confidence: number
    readonly country?: string | undefined
    readonly asn?: number | undefined
    /** Present if the claim names a region: the region with all regions that contain it, separated by commas, or `unknown`. */
    readonly region?: string | undefined
  }
  readonly policy: { readonly id: string; readonly sha256: string; readonly action: string; readonly reason: string }
  readonly basis: {
    readonly engine: string
    readonly datasetsSha256: string
    /** Says how the client address was found: `request` (named by the caller), `peer`, or the header that named it. */
    readonly addressFrom: string
    /** Names missing data, separated by commas; absent if none was missing. */
    readonly degraded?: string | undefined
  }
}

/** Makes the draft of an attestation, with salted hashes of context and address: a bare hash of a short text can be guessed. */
export function draftAttestation(log: string, at: number, statement: Statement, subject: Subject): Draft {
  const { claim, finding, policy, basis } = statement
  const { salt, address, context } = subject
  const members = {
    basis: {
      address_from: basis.addressFrom,
      datasets_sha256: basis.datasetsSha256,
      degraded: basis.degraded,
      engine: basis.engine,
    },
    claim: { jurisdiction: claim },
    context_sha256: context === undefined ? undefined : commitment(salt, context),
    finding: {
      anonymized: finding.anonymized ? 'yes' : 'no',
      asn: finding.asn,
      confidence_bp: Math.round(finding.confidence * 10_000),
      country: finding.country,
      method: finding.method,
      network_origin: finding.networkOrigin,
      region: finding.region,
    },
    policy: { action: policy.action, id: policy.id, reason: policy.reason, sha256: policy.sha256 },
    subject: { commit: commitment(salt, address) },
    type: 'provenance',
    v: finding.region === undefined ? RECORD_VERSION : REGION_VERSION,
  }
  return { log, at, members, subject }
}

/** States what one operator read within a minute; packages/sallyport/docs/evidence.md#records-and-evidence describes its form. */
export interface Crawl {
  /** Names the operator as its catalogue does. */
  readonly operator: string
  /** Say when the first and the last request began, in milliseconds since the epoch. */
  readonly from: number
  readonly to: number
  /** Counts requests that are in no record, because records could not be kept or a minute has no more room. */
  readonly leftOut: number
  /** Lists the preferences that were in force; rows name one by its place. */
  readonly preferences: readonly RecordedPreference[]
  readonly rows: readonly CrawlRow[]
}

/** Requests of one crawler for one path or pattern that came out alike. */
export interface CrawlRow extends Omit<RecordedRow, 'preference' | 'receipts'> {
  readonly preference: number
  /** Has spaces between the names. */
  readonly receipts?: string | undefined
}

/** Makes the draft of a record of crawling. `subject.address` holds the addresses of proven crawlers, with spaces between. */
export function draftCrawl(log: string, crawl: Crawl, subject: Subject | undefined): Draft {
  const members = {
    crawl: {
      from: new Date(crawl.from).toISOString(),
      left_out: crawl.leftOut,
      operator: crawl.operator,
      preferences: numbered(crawl.preferences, ({ host, robotsSha256, contentUsage, licence }) => ({
        content_usage: contentUsage,
        host,
        licence,
        robots_sha256: robotsSha256,
      })),
      rows: numbered(crawl.rows, (row) => sortNames({ ...row, enforced: row.enforced ? 'yes' : 'no' })),
      to: new Date(crawl.to).toISOString(),
    },
    subject: subject && { commit: commitment(subject.salt, subject.address) },
    type: 'crawl',
    v: CRAWL_VERSION,
  }
  return { log, at: crawl.to, members, subject }
}

/** Makes an object of a list, because records hold no lists; names of four letters are in the order of the list. */
function numbered<Entry>(entries: readonly Entry[], write: (entry: Entry) => object): object {
  return Object.fromEntries(entries.map((entry, at) => [`n${String(at).padStart(3, '0')}`, write(entry)]))
}

function sortNames(object: object): object {
  return Object.fromEntries(Object.entries(object).sort(([x], [y]) => (x < y ? -1 : 1)))
}

/** Holds one anchor in its recorded form. */
export interface Anchor {
  readonly size: number
  readonly checkpoint: string
  /** Maps the name of each authority to its response (RFC 3161, DER). */
  readonly timestamps: Readonly<Record<string, Uint8Array>>
  /** Signature lines of witnesses (C2SP tlog-cosignature), which continue the checkpoint; empty where none cosigned. */
  readonly cosignatures: string
}

/** Makes the draft of an anchor: a checkpoint of another log, and its timestamps and cosignatures. */
export function draftAnchor(log: string, at: number, { size, checkpoint, timestamps, cosignatures }: Anchor): Draft {
  const stamped = Object.entries(timestamps).map(
    ([authority, response]) => [authority, Buffer.from(response).toString('base64')] as const,
  )
  const members = {
    stamped: {
      checkpoint,
      ...(cosignatures === '' ? {} : { cosignatures }),
      size,
      timestamps: sortNames(Object.fromEntries(stamped)),
    },
    type: 'anchor',
    v: RECORD_VERSION,
  }
  return { log, at, members }
}

/** Writes the canonical text of a placed record (RFC 8785), which is stored and hashed. JSON leaves out members that are `undefined`. */
export function recordText({ members }: Draft, { attestationId, issuedAt, log, prev, seq }: RecordPlace): string {
  return JSON.stringify(sortNames({ ...members, attestation_id: attestationId, issued_at: issuedAt, log, prev, seq }))
}

/** Writes the canonical text (RFC 8785) of a JSON value. Throws for what JSON cannot express: NaN, lone surrogates, cycles. */
export function canonicalText(value: unknown): string {
  const text = serialize(value)
  if (text === undefined) throw new TypeError('not a JSON value')
  return text
}

/** Holds a document that records name by its hash: a policy, a list of data sets. */
export interface Document {
  readonly sha256: string
  readonly text: string
}

/** Makes a document of a JSON value. */
export function readDocument(value: unknown): Document {
  const text = canonicalText(value)
  return { sha256: sha256Hex(text), text }
}
