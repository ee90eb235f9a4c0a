import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { formatAddress, parseAddress, SallyportError } from '@sallyport/core'
import {
  type AuditOptions,
  type AuditReport,
  auditLedger,
  type CheckpointArchive,
  type CrawlsJson,
  type CrawlsQuery,
  type Ledger,
  LedgerRefused,
  type LedgerStore,
  openLedger as openLedgerOn,
  type Signer,
  type Stamp,
  thumbprint,
} from '@sallyport/ledger'
import { makeFolder } from '#files'
import { CHECKPOINTS, inDataDir, LEDGER_FILE } from '#service'
import type { Settings } from '#settings'
import { openCheckpointFolder, openPostgresLedger, openSqliteLedger } from '#stores'
import { type LedgerTime, readLedgerTime } from './ledger-time.ts'
import { environmentName, loadSigningKey, prepareNextKey, readKeyFile, type SigningKeyPlace } from './signing-key.ts'

/** Place of a ledger, inside its store and outside it. */
export interface LedgerPlace {
  readonly store: LedgerStore
  readonly archive: CheckpointArchive
}

/** Opens the store of a configuration's ledger, unchecked. It has its own file, so that its writer never waits for that of the accounts. */
export async function openLedgerPlace(config: Settings): Promise<LedgerPlace> {
  const { dataDir, store } = config
  if (config.data.readOnly) {
    throw new SallyportError(
      'attestation_unavailable',
      'data.readOnly prevents writing to dataDir, so nothing is attested.',
    )
  }
  makeFolder(dataDir)
  const inFile = store === undefined || store.startsWith('sqlite:')
  return {
    store: await (inFile ? openSqliteLedger(join(dataDir, LEDGER_FILE)) : openPostgresLedger(store)),
    archive: openCheckpointFolder(join(dataDir, CHECKPOINTS)),
  }
}

/** Rejects with `ledger_refused` where the ledger contradicts its checkpoints or its key. */
export async function openLedgerAt(
  place: LedgerPlace,
  config: Settings,
  clock: { now(): number },
  onKeyMade?: (file: string) => void,
  stamper?: { readonly stamp: Stamp; unanchored(): string },
): Promise<Ledger> {
  const key = keyPlace(config, onKeyMade)
  try {
    return await openLedgerOn({
      ...place,
      clock,
      randomness: randomBytes,
      loadSigner: (kid) => loadSigningKey(key, kid),
      stamp: stamper?.stamp,
      unanchored: stamper?.unanchored,
    })
  } catch (error) {
    if (!(error instanceof LedgerRefused)) throw error
    throw new SallyportError('ledger_refused', error.message)
  }
}

function keyPlace({ dataDir, provenance }: Settings, onMade?: (file: string) => void): SigningKeyPlace {
  return {
    source: provenance.signingKey ?? join(dataDir, 'signing-key.pem'),
    make: provenance.signingKey === undefined,
    onMade,
  }
}

/** Says which key signs the records after a rotation. */
export interface RotatedKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string
  /** False if operators must give services the key: their key is in the environment, or this process cannot write its file. */
  readonly placed: boolean
}

/** The operator's work on a ledger, beside a running service. */
export type LedgerTools = Awaited<ReturnType<typeof openLedgerTools>>

/** Opens the ledger of a configuration alone: no data is loaded. */
export async function openLedgerTools(config: Settings) {
  const place = await inDataDir(config, () => openLedgerPlace(config))
  const { source } = keyPlace(config)
  return {
    /** See `auditLedger`. Needs no key, and works also where opening is refused. */
    verify: (options: Omit<AuditOptions, 'archive'> = {}): Promise<AuditReport> =>
      auditLedger(place.store, { ...options, archive: place.archive }),
    /** Checks the anchors of the logs; `authorities` are trusted certificates, PEM, and `witnesses` trusted verifier keys. */
    time: (authorities: string | undefined, witnesses: readonly string[]): Promise<LedgerTime> =>
      readLedgerTime(place.store, authorities, witnesses),
    /** Builds the evidence of what an operator read; `undefined` where no record is. Throws `invalid_request` for too many. */
    async crawls(operator: string, query: CrawlsQuery): Promise<CrawlsJson | undefined> {
      const ledger = await openLedgerAt(place, config, { now: () => Date.now() })
      try {
        return await ledger.crawls(operator, query)
      } catch (error) {
        throw error instanceof RangeError ? new SallyportError('invalid_request', error.message) : error
      }
    },
    /** Erases address, salt and context of all records about an address; returns their number. Throws `invalid_ip`. */
    async erase(text: string): Promise<number> {
      const address = parseAddress(text)
      if (address === undefined) throw new SallyportError('invalid_ip', `Not an address: ${text}`)
      return place.store.eraseSubject(formatAddress(address))
    },
    /** Hands over to a new key, or to the key in `nextKeyFile`, and writes it where services read their key. */
    async rotateKey({
      nextKeyFile,
      compromised = false,
    }: {
      readonly nextKeyFile?: string | undefined
      readonly compromised?: boolean | undefined
    }): Promise<RotatedKey> {
      const ledger = await openLedgerAt(place, config, { now: () => Date.now() })
      const variable = environmentName(source)
      if (nextKeyFile === undefined && variable !== undefined) {
        throw new SallyportError(
          'invalid_config',
          'The key comes from the environment. Generate the next key, and pass its file with --next-key.',
        )
      }
      const given = nextKeyFile === undefined ? undefined : await readKeyFile(nextKeyFile)
      const prepared =
        variable === undefined ? await prepareNextKey(source, nextKeyFile).catch(orGiven(given)) : undefined
      const next = prepared?.next ?? given
      if (next === undefined) throw new TypeError('a key is made, or given')
      await ledger.rotate(next, compromised)
      await prepared?.place()
      return { kid: thumbprint(next.publicKey), placed: prepared !== undefined }
    },
    close: (): Promise<void> => place.store.close(),
  }
}

/** If the service was given its key, a rotation continues although the key's file cannot be written, as in a mounted secret. */
function orGiven(given: Signer | undefined): (error: unknown) => undefined {
  return (error) => {
    if (given === undefined) throw error
  }
}
