import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { cityPath, countriesPath, isCity } from '../compile/city.ts'
import { tablesPath } from '../compile/compiled-path.ts'
import { type BundleFolder, digestOf, publicKeyOf, type SignedManifest } from '../published/folder.ts'
import { type BundleFile, makeManifest, manifestBytes } from '../published/manifest.ts'
import { ENGINE_VERSION } from '../sources/engine-version.ts'
import type { ResolvedSource } from '../sources/resolve.ts'
import type { DataHooks } from './data-ports.ts'
import { withFeedStatus } from './feed-status.ts'
import { type DataConfig, type FeedPorts, openFeeds } from './feeds.ts'
import { openSnapshot } from './snapshot.ts'

/** An Ed25519 key of a publisher. */
export interface BundleSigner {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>
}

export interface PublishOptions {
  readonly folder: BundleFolder
  readonly signer: BundleSigner
  /** How long readers hold the bundle for good. */
  readonly validMs: number
  readonly hooks?: Pick<DataHooks, 'onProgress' | 'onWait'> | undefined
}

export interface PublishedBundle extends SignedManifest {
  /** Files that the bundle before did not have. */
  readonly written: readonly BundleFile[]
}

/**
 * Writes the data of a dataDir, compiled first where it is not, as a signed bundle into a folder: files by their digests,
 * then the signature, then the manifest.
 */
export async function publishBundle(
  config: DataConfig,
  ports: FeedPorts,
  { folder, signer, validMs, hooks = {} }: PublishOptions,
): Promise<PublishedBundle> {
  const { dataDir } = config
  const feeds = openFeeds(config, ports)
  await feeds.takeFiles()
  const sources = feeds.resolve()
  const loaded = await openSnapshot(dataDir, sources, { lock: ports.lock, ...hooks })
  const files: BundleFile[] = []
  const written: BundleFile[] = []
  for (const [name, path] of pathsOf(dataDir, sources)) {
    const file = { name, ...(await measured(path)) }
    files.push(file)
    if (!folder.isThere(file)) written.push(file)
    await folder.copyFile(path, file)
  }
  const now = ports.clock.now()
  const key = publicKeyOf(Buffer.from(signer.publicKey).toString('base64url'))
  const before = key === undefined ? undefined : folder.held(key)
  const manifest = makeManifest({
    engine: ENGINE_VERSION,
    // A clock that was set back must not make a bundle look older than the one before.
    version: Math.max(now, (before?.manifest.version ?? 0) + 1),
    created: new Date(now).toISOString(),
    expires: new Date(now + validMs).toISOString(),
    files,
    sources: withFeedStatus(loaded, sources).sources,
  })
  const bytes = manifestBytes(manifest)
  const signed = { manifest, bytes, digest: digestOf(bytes), signature: await signer.sign(bytes) }
  await folder.take(signed)
  return { ...signed, written }
}

/** The files that readers need, by their names in a bundle. A city database that was not compiled is in none. */
function pathsOf(dataDir: string, sources: readonly ResolvedSource[]): readonly (readonly [string, string])[] {
  const cities = sources.filter(isCity).flatMap((source) => {
    const [places, countries] = [cityPath(dataDir, source), countriesPath(dataDir, source)]
    const { id } = source.row
    return existsSync(places) ? [[`city-${id}`, places] as const, [`countries-${id}`, countries] as const] : []
  })
  const downloads = sources.flatMap(({ row, file }) =>
    file !== undefined && (row.kind === 'front-end' || row.kind === 'rdap')
      ? [[`feed-${row.id}`, file.path] as const]
      : [],
  )
  return [['tables', tablesPath(dataDir, sources)], ...cities, ...downloads]
}

async function measured(path: string): Promise<Omit<BundleFile, 'name'>> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}
