import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeSecret } from '@sallyport/engine/files'
import type { AdminPages } from '@sallyport/proxy'

/** A file in the dataDir by which a gate proves to commands that it runs there. It opens nothing else. */
const SECRET_FILE = 'admin-secret'
const SECRET_FORM = /^[\w-]{43}$/

const PATH = '/.sallyport/admin-proof'
const QUESTION = /^\/\.sallyport\/admin-proof\?nonce=([\w-]{43})$/
const FIELD = 'sallyport-proof'

/**
 * Returns a function that answers a command's request for the proof, and returns false for any other request. The proof names the
 * listener's own `url`, so that another listener cannot relay the request to the gate.
 */
export function openProof(dataDir: string, url: () => string | undefined): NonNullable<AdminPages['handle']> {
  keepSecret(dataDir)
  const secret = readSecret(dataDir)
  return (request, response) => {
    const nonce = QUESTION.exec(request.url ?? '')?.[1]
    const own = url()
    if (nonce === undefined || own === undefined || secret === undefined) return false
    request.resume()
    const fields = { [FIELD]: prove(secret, nonce, own).toString('base64url'), 'Cache-Control': 'no-store' }
    response.writeHead(204, fields).end()
    return true
  }
}

/** Reports whether the listener at `where` is the one that a gate of the dataDir noted as `url`. Rejects where none answers. */
export async function hasProof(dataDir: string, url: string, where: string, waitMs: number): Promise<boolean> {
  const secret = readSecret(dataDir)
  const nonce = randomBytes(32).toString('base64url')
  const answer = await fetch(`http://${where}${PATH}?nonce=${nonce}`, {
    method: 'HEAD',
    redirect: 'manual',
    signal: AbortSignal.timeout(waitMs),
  })
  if (secret === undefined) return false
  const expected = prove(secret, nonce, url)
  const shown = Buffer.from(answer.headers.get(FIELD) ?? '', 'base64url')
  return shown.length === expected.length && timingSafeEqual(shown, expected)
}

function prove(secret: string, nonce: string, url: string): Buffer {
  return createHmac('sha256', secret).update(nonce).update(url).digest()
}

/** Creates the secret where there is none: a gate that cannot store one runs without a proof. */
function keepSecret(dataDir: string): void {
  try {
    makeSecret(join(dataDir, SECRET_FILE), randomBytes(32).toString('base64url'))
  } catch {
    // The folder is read-only, or its disk is full.
  }
}

function readSecret(dataDir: string): string | undefined {
  try {
    const text = readFileSync(join(dataDir, SECRET_FILE), 'utf8').trim()
    return SECRET_FORM.test(text) ? text : undefined
  } catch {
    return undefined
  }
}
