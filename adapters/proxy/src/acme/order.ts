import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import type { ChallengeFiles } from './challenge-files.ts'

/** Whose certificates are asked for, and of whom. */
export interface AcmeOptions {
  /** Names for one certificate; each must lead to the listener `http` on port 80. */
  readonly domains: readonly string[]
  /** For letters of the authority about certificates that expire. */
  readonly email: string
  /** URL of an authority's directory (RFC 8555 7.1.1); absent: that of Let's Encrypt. */
  readonly directory?: string | undefined
  /** File of the authorities whose certificate the directory has, in PEM; absent: those of Node. */
  readonly ca?: string | undefined
}

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory'

/** Where the files of a folder are. */
export function acmeFiles(folder: string): { readonly cert: string; readonly key: string; readonly account: string } {
  return {
    cert: join(folder, 'certificate.pem'),
    key: join(folder, 'certificate.key'),
    account: join(folder, 'account.key'),
  }
}

/** Orders a certificate and writes it; rejects with what the authority says, or with `package_missing`. */
export async function orderCertificate(
  folder: string,
  { domains, email, directory = LETS_ENCRYPT, ca }: AcmeOptions,
  challenges: ChallengeFiles,
): Promise<void> {
  const acme = await loadAcme()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = acmeFiles(folder)
  if (ca !== undefined) acme.axios.defaults.httpsAgent = new Agent({ ca: await readFile(ca) })
  const client = new acme.Client({ directoryUrl: directory, accountKey: await accountKey(files.account, acme) })
  const key = await acme.crypto.createPrivateEcdsaKey()
  const [, csr] = await acme.crypto.createCsr({ commonName: domains[0] as string, altNames: [...domains] }, key)
  const chain = await client.auto({
    csr,
    email,
    termsOfServiceAgreed: true,
    challengePriority: ['http-01'],
    // This machine need not reach its own name from within.
    skipChallengeVerification: true,
    challengeCreateFn: (_, { token }, answer) => challenges.write(token, answer),
    challengeRemoveFn: (_, { token }) => challenges.remove(token),
  })
  await replace(files.key, key)
  await replace(files.cert, chain)
}

type Acme = typeof import('acme-client')

/** Loaded where it is configured: nobody else installs it. */
async function loadAcme(): Promise<Acme> {
  try {
    const { default: acme } = await import('acme-client')
    const { acmeSettings } = acme.axios.defaults as { acmeSettings?: Record<string, unknown> }
    // Its pauses of up to a minute would hold the end of the process; the next look repeats what failed.
    if (acmeSettings !== undefined) acmeSettings['retryMaxAttempts'] = 0
    return acme
  } catch {
    const message = 'tls.acme needs the package acme-client, which is not installed: npm install acme-client'
    throw new SallyportError('package_missing', message, { package: 'acme-client' })
  }
}

async function accountKey(file: string, { crypto }: Acme): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch {
    const key = await crypto.createPrivateEcdsaKey()
    await replace(file, key)
    return key
  }
}

/** Whole or not at all. */
async function replace(file: string, content: Buffer | string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
