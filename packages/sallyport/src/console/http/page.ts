import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { SECURITY } from './reply.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** The build writes the page into this folder. */
const PAGE_FOLDER = join(import.meta.dirname, '../../../page')

interface Asset {
  readonly type: string
  readonly plain: Buffer
  readonly gzip: Buffer
  /** Whether the name changes with the content, so that caches can keep the file. */
  readonly isFixed: boolean
}

/** Reads the built page, and serves its files from memory; returns false where there is no such file. */
export function loadPage(folder: string = PAGE_FOLDER) {
  const assets = new Map<string, Asset>()
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const type = TYPES[extname(name)]
    if (type === undefined) continue
    const plain = readFileSync(join(folder, name))
    const path = name === 'index.html' ? '/' : `/assets/${name}`
    assets.set(path, { type, plain, gzip: gzipSync(plain, { level: 9 }), isFixed: /-[A-Z0-9]{8}\./.test(name) })
  }
  if (!assets.has('/')) {
    const plain = Buffer.from('<!doctype html><title>Sallyport</title><p>Build the console: npm run prepare.\n')
    assets.set('/', { type: 'text/html; charset=utf-8', plain, gzip: gzipSync(plain), isFixed: false })
  }
  return (path: string, request: IncomingMessage, response: ServerResponse): boolean => {
    const asset = assets.get(path)
    if (asset === undefined) return false
    const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
    const body = isZipped ? asset.gzip : asset.plain
    response.writeHead(200, {
      ...SECURITY,
      'Content-Type': asset.type,
      'Content-Length': body.length,
      'Cache-Control': asset.isFixed ? 'public, max-age=31536000, immutable' : 'no-cache',
      Vary: 'Accept-Encoding',
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    })
    response.end(body)
    return true
  }
}
