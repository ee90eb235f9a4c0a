import { execFileSync, spawnSync } from 'node:child_process'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

export const NO_OPENSSL = spawnSync('openssl', ['version']).error !== undefined && 'no openssl on this machine'

/** A folder for certificates, removed with the test. */
export function certificateFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-tls-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function keyOn(namedCurve: string): KeyObject {
  return generateKeyPairSync('ec', { namedCurve }).privateKey
}

export interface MadeCertificate {
  readonly cert: string
  readonly key: string
}

/** An authority has this extension, and may sign other certificates. */
export const AUTHORITY = ['basicConstraints=critical,CA:TRUE']

/** Writes a certificate for these names, and its key; `days` until it expires, `begins` until it is valid. */
export function makeCertificate(
  folder: string,
  names: readonly string[],
  {
    days = 30,
    begins = -1,
    id = 'site',
    secret = keyOn('P-256'),
    digest = 'sha256',
    subject = `/CN=${names[0]}`,
    more = [] as readonly string[],
    issuer = undefined as MadeCertificate | undefined,
  } = {},
): MadeCertificate {
  const [cert, key] = [join(folder, `${id}.pem`), join(folder, `${id}.key`)]
  const end = new Date(Date.now() + days * 86_400_000)
  const stamp = (date: Date): string => `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  const request = join(folder, `${id}.csr`)
  const extensions = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`
  const run = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' })
  writeFileSync(key, secret.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const added = [extensions, ...more].flatMap((extension) => ['-addext', extension])
  run('req', '-new', '-key', key, '-subj', subject, ...added, '-out', request)
  const begin = new Date(Math.min(Date.now(), end.getTime()) + begins * 86_400_000)
  const folderOfCa = mkdtempSync(join(folder, 'ca-'))
  const config = join(folderOfCa, 'ca.cnf')
  writeCaConfig(config, folderOfCa)
  const signer = issuer === undefined ? ['-selfsign', '-keyfile', key] : ['-cert', issuer.cert, '-keyfile', issuer.key]
  const dates = ['-startdate', stamp(begin), '-enddate', stamp(end), '-md', digest]
  run('ca', '-batch', ...signer, '-config', config, '-in', request, '-out', cert, '-notext', ...dates)
  return { cert, key }
}

/** Makes the `tls` of a proxy with one certificate, for `site.example`. */
export function siteTls(t: Test) {
  return { certificates: [makeCertificate(certificateFolder(t), ['site.example'])] }
}

/** Writes the files that `openssl ca` needs: no other command of it sets the dates. */
function writeCaConfig(file: string, folder: string): void {
  writeFileSync(join(folder, 'index.txt'), '')
  writeFileSync(join(folder, 'serial'), `${Date.now().toString(16).padStart(14, '0')}\n`)
  writeFileSync(
    file,
    `[ca]
default_ca = own
[own]
dir = ${folder}
database = $dir/index.txt
serial = $dir/serial
new_certs_dir = $dir
policy = any
copy_extensions = copy
[any]
countryName = optional
organizationName = optional
commonName = supplied
`,
  )
}
