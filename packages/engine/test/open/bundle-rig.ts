import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createDns, createFetch } from '#net'
import { withFreeLock, withLock } from '#stores'
import { digestOf, openBundleFolder, type SignedManifest } from '../../src/datasets/published/folder.ts'
import { type Manifest, manifestBytes } from '../../src/datasets/published/manifest.ts'
import type { FeedPorts } from '../../src/datasets/service/feeds.ts'
import { type BundleSigner, publishBundle } from '../../src/datasets/service/publish.ts'
import { openPublished, type Published } from '../../src/datasets/service/published.ts'
import { parseConfig } from '../../src/open/config/read.ts'
import type { ConfigInput } from '../../src/open/index.ts'
import { bernDatabase, madeConfig } from './made-sources.ts'

export const VPN = 'x4bnet-vpn-ipv4'
const HOUR_MS = 3_600_000

/** A publisher, the web server that hands out its folder, and readers of it. */
export interface BundleRig {
  readonly folder: string
  readonly url: string
  readonly fromKey: string
  /** Names that were asked for, oldest first. */
  readonly asked: string[]
  /** Serves something else under a name; `undefined`: what is in the folder. */
  serve(name: string, served: Uint8Array | RequestListener | undefined): void
  /** Publishes a list of VPN networks. */
  publish(list: string, signer?: BundleSigner): Promise<SignedManifest>
  /** Signs any bytes as the publisher does. */
  sign(bytes: Uint8Array): Promise<{ readonly digest: string; readonly signature: Buffer }>
  /** Puts a changed manifest in place, signed. */
  replace(change: Partial<Manifest>): Promise<void>
  /** A configuration that reads it, in a dataDir of this name. */
  config(name: string, data?: ConfigInput['data']): ConfigInput & { readonly dataDir: string }
  reader(name: string, now?: () => number): Published
  tick(milliseconds: number): void
}

/** A new key of a publisher. */
export function made(): BundleSigner & { readonly fromKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  return { publicKey: Buffer.from(x, 'base64url'), fromKey: x, sign: async (bytes) => sign(null, bytes, privateKey) }
}

export async function openBundleRig(t: Test): Promise<BundleRig> {
  const root = t.testdir()
  const folder = join(root, 'published')
  const signer = made()
  let ahead = 0
  const now = () => Date.now() + ahead
  const ports: FeedPorts = {
    clock: { now },
    outbound: createFetch({ dns: createDns({ timeoutMs: 100 }), allowPrivate: ['127.0.0.1/32'] }),
    lock: { withLock, withFreeLock },
  }
  const { url, asked, serve } = await openFolderServer(t, folder)
  const config: BundleRig['config'] = (name, data = {}) => ({
    dataDir: join(root, name),
    data: { from: url, fromKey: signer.fromKey, ...data },
    net: { allowPrivate: ['127.0.0.1/32'] },
    dns: { servers: ['127.0.0.1:9'], timeoutMs: 50 },
  })
  return {
    folder,
    url,
    asked,
    serve,
    fromKey: signer.fromKey,
    config,
    async publish(list, by = signer) {
      const source = join(root, 'source')
      mkdirSync(source, { recursive: true })
      const files = { [VPN]: list, 'x4bnet-dc-ipv4': '8.2.0.0/16\n', 'dbip-city-lite': bernDatabase() }
      const publisher = parseConfig(madeConfig(source, files))
      return publishBundle(publisher, ports, { folder: openBundleFolder(folder), signer: by, validMs: 24 * HOUR_MS })
    },
    sign: async (bytes) => ({ digest: digestOf(bytes), signature: Buffer.from(await signer.sign(bytes)) }),
    async replace(change) {
      const manifest: Manifest = { ...JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')), ...change }
      const bytes = manifestBytes(manifest)
      const digest = digestOf(bytes)
      await openBundleFolder(folder).take({ manifest, bytes, digest, signature: await signer.sign(bytes) })
    },
    reader: (name, own = now) => openPublished(parseConfig(config(name)), { ...ports, clock: { now: own } }),
    tick(milliseconds) {
      ahead += milliseconds
    },
  }
}

/** A web server for a folder of files, with an ETag for each. */
async function openFolderServer(t: Test, folder: string) {
  const instead = new Map<string, Uint8Array | RequestListener>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice('/data/'.length)
    const served = instead.get(name)
    asked.push(name)
    if (typeof served === 'function') return served(request, response)
    const path = join(folder, name)
    if (served === undefined && !existsSync(path)) return response.writeHead(404).end()
    const bytes = served ?? readFileSync(path)
    const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end()
    return response.writeHead(200, { etag, 'content-length': bytes.length }).end(bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/data`,
    asked,
    serve(name: string, served: Uint8Array | RequestListener | undefined) {
      if (served === undefined) instead.delete(name)
      else instead.set(name, served)
    },
  }
}

/** Waits for what another loop brings about. */
export async function until(condition: () => boolean): Promise<true> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
  return true
}
