import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCode, isRecord, SallyportError } from '@sallyport/core'
import { makeFolder, OWN_FILE, replaceFile } from '@sallyport/engine/files'
import type { Authorization, Client, Order } from 'acme-client'
import { type Authority, AuthorityFault } from './authority.ts'
import { certificateFault } from './certificate-fault.ts'
import { removeChallenge, writeChallenge } from './challenge-files.ts'

/** The key `tls.acme` of the configuration: what to order, where the files are, and whether this process orders. */
export interface AcmeKeys {
  /** Names that the certificate covers; each must lead to the listener `http` on port 80. */
  readonly domains: readonly string[]
  /** The authority writes to this address about certificates that expire. */
  readonly email: string
  /** URL of an authority's directory (RFC 8555 7.1.1); absent: Let's Encrypt. */
  readonly directory?: string | undefined
  /** File in PEM of the authorities that issued the directory's certificate; absent: Node's authorities. */
  readonly ca?: string | undefined
  /** Folder of the account, the certificate and the challenges; all processes share it. */
  readonly folder: string
  /** Whether this process orders; only one process does. */
  readonly orders: boolean
}

/** Pauses between two requests for a pending state; each is longer by half. */
const PAUSE_MS = { first: 500, max: 10_000 }
const MAX_PENDING_MS = 180_000
/** Limits the common name of a certificate (RFC 5280, ub-common-name). */
const MAX_COMMON_NAME = 64

export function acmeFiles(folder: string): { readonly cert: string; readonly key: string; readonly account: string } {
  return {
    cert: join(folder, 'certificate.pem'),
    key: join(folder, 'certificate.key'),
    account: join(folder, 'account.key'),
  }
}

interface OrderParts {
  readonly authority: Authority
  readonly signal: AbortSignal
}

/**
 * Orders a certificate and writes it; rejects with an `AuthorityFault`, with `package_missing`, or when the signal aborts. The library
 * signs; this file decides what to request and what to believe.
 */
export async function orderCertificate({ folder, domains, email }: AcmeKeys, parts: OrderParts): Promise<void> {
  const { authority } = parts
  const acme = await loadAcme()
  makeFolder(folder)
  const files = acmeFiles(folder)
  const account = await accountKey(files.account, acme)
  const client = new acme.Client({ directoryUrl: authority.directory, accountKey: account })
  askThrough(client, authority)

  const names = [...new Set(domains.map((domain) => domain.toLowerCase()))]
  await client.createAccount({ termsOfServiceAgreed: true, contact: [`mailto:${email}`] })
  const order = checkedOrder(await client.createOrder({ identifiers: names.map((value) => ({ type: 'dns', value })) }))
  await authorize(client, order, folder, parts)

  const key = await acme.crypto.createPrivateEcdsaKey()
  const [commonName = ''] = names
  const subject = commonName.length > MAX_COMMON_NAME ? {} : { commonName }
  const [, csr] = await acme.crypto.createCsr({ ...subject, altNames: names }, key)
  const becomes = (wanted: readonly string[]): Promise<Order> =>
    until(
      async () => {
        const now = checkedOrder(await client.getOrder(order))
        if (String(now.status) === 'invalid') throw new AuthorityFault(`the order failed${readProblem(now)}`)
        return wanted.includes(String(now.status)) ? now : undefined
      },
      'to issue the certificate',
      parts,
    )
  const ready = await becomes(['ready', 'processing', 'valid'])
  if (ready.status === 'ready') await client.finalizeOrder(ready, csr)
  const chain: unknown = await client.getCertificate(checkedOrder(await becomes(['valid'])))
  const fault = typeof chain === 'string' ? certificateFault(chain, key.toString(), names) : 'is not text'
  if (fault !== undefined) throw new AuthorityFault(`the certificate from the CA ${fault}`)
  await replaceFile(files.key, key, OWN_FILE)
  await replaceFile(files.cert, String(chain), OWN_FILE)
}

type Acme = typeof import('acme-client')

/** Loads acme-client only where it is configured; other users do not install it. Rejects with `package_missing`. */
export async function loadAcme(): Promise<Acme> {
  try {
    return (await import('acme-client')).default
  } catch {
    const message = 'tls.acme needs the package acme-client, which is not installed: npm install acme-client'
    throw new SallyportError('package_missing', message, { package: 'acme-client' })
  }
}

/** Sends the requests of this client through the authority; the library's own way of requesting stays unchanged. */
function askThrough(client: Client, authority: Authority): void {
  const { directory } = authority
  const { http } = client as Client & { readonly http?: { request?: Authority['ask'] | undefined } | undefined }
  if (http?.request === undefined) throw new AuthorityFault('tls.acme needs acme-client 5.4')
  let newAccount: unknown
  http.request = async (url, method, asked) => {
    const answer = await authority.ask(url, method, asked)
    if (url === directory) newAccount = checkedDirectory(answer.data, directory)['newAccount']
    // Otherwise the library would repeat the request for ever.
    if (url === newAccount && answer.status < 300 && answer.headers['location'] === undefined) {
      throw new AuthorityFault('the CA sent no account URL')
    }
    return answer
  }
}

function checkedDirectory(data: unknown, url: string): Readonly<Record<string, unknown>> {
  const members = isRecord(data) ? data : {}
  const missing = ['newNonce', 'newAccount', 'newOrder'].filter((name) => !isUrl(members[name]))
  if (missing.length > 0) throw new AuthorityFault(`${url} is not an ACME directory: it has no ${missing.join(', ')}`)
  return members
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value)
}

function checkedOrder(order: Order): Order {
  const { authorizations, finalize } = order as { readonly authorizations?: unknown; readonly finalize?: unknown }
  if (
    !Array.isArray(authorizations) ||
    authorizations.length > MAX_AUTHORIZATIONS ||
    !authorizations.every(isUrl) ||
    !isUrl(finalize)
  ) {
    throw new AuthorityFault('the CA sent an order without authorizations or finalize')
  }
  return order
}

const MAX_AUTHORIZATIONS = 200

/** Proves that the names are ours (RFC 8555 8.3): the authority reads a file over plain HTTP. */
async function authorize(client: Client, order: Order, folder: string, parts: OrderParts): Promise<void> {
  const written: string[] = []
  let pending: readonly unknown[] = order.authorizations
  const areValid = async (): Promise<true | undefined> => {
    const all = await client.getAuthorizations({ ...order, authorizations: pending as Order['authorizations'] })
    const failed = all.find(({ status }) => !['valid', 'pending', 'processing'].includes(String(status)))
    if (failed !== undefined) throw makeUnauthorized(failed)
    pending = all.filter(({ status }) => status !== 'valid').map(({ url }) => url)
    return pending.length === 0 || undefined
  }
  try {
    for (const authorization of await client.getAuthorizations(order)) {
      if (String(authorization.status) === 'valid') continue
      if (String(authorization.status) !== 'pending') throw makeUnauthorized(authorization)
      const challenge = findChallenge(authorization)
      written.push(challenge.token)
      await writeChallenge(folder, challenge.token, await client.getChallengeKeyAuthorization(challenge))
      await client.completeChallenge(challenge)
    }
    await until(areValid, 'to check the challenges', parts)
  } finally {
    for (const token of written) await removeChallenge(folder, token)
  }
}

/** Finds the http-01 challenge; its token must be safe as the name of a file. */
function findChallenge(authorization: Authorization) {
  const challenges: unknown = authorization.challenges
  const found = (Array.isArray(challenges) ? challenges : []).find((one) => isRecord(one) && one['type'] === 'http-01')
  if (found === undefined) throw new AuthorityFault(`the CA offers no http-01 challenge for ${readName(authorization)}`)
  if (!/^[\w-]{1,128}$/.test(String(found.token)) || !isUrl(found.url)) {
    throw new AuthorityFault(`the challenge of the CA for ${readName(authorization)} has no token or no URL`)
  }
  return found as Authorization['challenges'][number]
}

function makeUnauthorized(authorization: Authorization): AuthorityFault {
  return new AuthorityFault(`${readName(authorization)} is not authorized${readProblem(authorization)}`)
}

function readName({ identifier }: { readonly identifier?: unknown }): string {
  return isRecord(identifier) ? String(identifier['value']) : 'a name'
}

/** Returns what an order or an authorization says about its failure, after a colon. */
function readProblem(item: unknown): string {
  const readError = (value: unknown): string | undefined =>
    isRecord(value) && isRecord(value['error']) ? String(value['error']['detail'] ?? value['error']['type']) : undefined
  const inner = isRecord(item) && Array.isArray(item['challenges']) ? item['challenges'].map(readError) : []
  const detail = readError(item) ?? inner.find((text) => text !== undefined)
  return detail === undefined ? '' : `: ${detail}`
}

/** Calls `look` until it finds a value, within bounds, and with the pauses that the authority asks for. */
async function until<T>(
  look: () => Promise<T | undefined>,
  what: string,
  { authority, signal }: OrderParts,
): Promise<T> {
  const end = performance.now() + MAX_PENDING_MS
  for (let pause = PAUSE_MS.first; ; pause = Math.min(pause * 1.5, PAUSE_MS.max)) {
    const found = await look()
    if (found !== undefined) return found
    const wait = Math.max(pause, authority.retryAfterMs ?? 0)
    if (performance.now() + wait > end)
      throw new AuthorityFault(`the CA took more than ${MAX_PENDING_MS / 60_000} min ${what}`)
    await delay(wait, undefined, { signal })
  }
}

/** Reads the key of the account, or creates another: a lost or broken key loses nothing, because the authority makes a new account. */
async function accountKey(file: string, { crypto }: Acme): Promise<Buffer> {
  try {
    const key = await readFile(file)
    createPrivateKey(key)
    return key
  } catch (error) {
    const code = errorCode(error)
    // A key that exists but cannot be read now is not replaced.
    if (/^E[A-Z]+$/.test(code) && code !== 'ENOENT') throw error
    const key = await crypto.createPrivateEcdsaKey()
    await replaceFile(file, key, OWN_FILE)
    return key
  }
}
