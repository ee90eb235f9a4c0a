import { join } from 'node:path'
import { type Clock, SallyportError } from '@sallyport/core'
import { type DataHooks, openBundleFolder, PUBLIC, publishBundle, signedFiles } from '#datasets'
import { putObject, putOnce, s3TargetOf } from '#net'
import { openKeyFile } from './attestation/signing-key.ts'
import { parseConfig } from './config/read.ts'
import type { ConfigInput } from './config/schema.ts'
import { DATA_LOCK, inDataDir } from './data-dir.ts'
import { createOutbound } from './outbound.ts'

export interface PublishRequest {
  /** A folder, or `s3://BUCKET/PATH`. */
  readonly to: string
  /** File of the private key; made where it is not there. */
  readonly key: string
  /** How long readers hold it for good. */
  readonly validMs: number
}

/** A publish, for the operator who asked for it. */
export interface PublishedData {
  readonly version: number
  readonly expires: string
  /** Files in it, and how many of them were not there before. */
  readonly files: number
  readonly written: number
  readonly bytes: number
  /** `data.fromKey` of readers. */
  readonly fromKey: string
  /** Whether the private key was made now. */
  readonly keyMade: boolean
}

/**
 * Publishes the data of a configuration, compiled first where it is not, for other services to load (`data.from`). Nothing
 * is downloaded. Rejects with `invalid_config`, `data_dir_unusable`, and with `update_failed` where a bucket does not take it.
 */
export async function publishData(
  options: ConfigInput,
  { to, key, validMs }: PublishRequest,
  hooks: Pick<DataHooks, 'onProgress' | 'onWait'> = {},
): Promise<PublishedData> {
  const config = parseConfig(options)
  if (config.data.from !== undefined) {
    throw new SallyportError('invalid_config', 'data.from is set: nothing is compiled here that could be published')
  }
  if (to.startsWith('s3://') && !config.net.outbound) {
    throw new SallyportError('invalid_config', 'net.outbound is false: nothing is put into a bucket')
  }
  const bucket = to.startsWith('s3://') ? s3TargetOf(to, process.env) : undefined
  const clock: Clock = { now: () => Date.now() }
  return inDataDir(config, async () => {
    const { signer, made } = await openKeyFile(key, '--key')
    const ports = { clock, outbound: createOutbound(config).feeds, lock: DATA_LOCK }
    const folder =
      bucket === undefined ? openBundleFolder(to, PUBLIC) : openBundleFolder(join(config.dataDir, 'publish'))
    const bundle = await publishBundle(config, ports, { folder, signer, validMs, hooks })
    const { manifest } = bundle
    let written = bundle.written.length
    if (bucket !== undefined) {
      written = 0
      for (const file of manifest.files) {
        if (await putOnce(bucket, { ...file, name: file.sha256, content: folder.pathOf(file) })) written++
      }
      for (const object of signedFiles(bundle)) await putObject(bucket, object)
    }
    return {
      version: manifest.version,
      expires: manifest.expires,
      files: manifest.files.length,
      written,
      bytes: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
      fromKey: Buffer.from(signer.publicKey).toString('base64url'),
      keyMade: made,
    }
  })
}
