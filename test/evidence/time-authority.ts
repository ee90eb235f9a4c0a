import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { startOrigin } from '../hosts/proxy.ts'
import { makeFolder } from '../started.ts'

export { NO_OPENSSL } from '../hosts/protocols.ts'

const CONFIG = (folder: string, digests: string) => `
[tsa]
default_tsa = made
[made]
dir = ${folder}
serial = ${folder}/serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
other_policies = 1.2.3.4.1
digests = ${digests}
accuracy = secs:2, millisecs:250
ess_cert_id_chain = no
ess_cert_id_alg = sha256
[ca]
default_ca = own
[own]
database = ${folder}/index
new_certs_dir = ${folder}
serial = ${folder}/certificates
default_md = sha256
policy = any
copy_extensions = none
unique_subject = no
[any]
commonName = supplied
[time]
basicConstraints = CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[web]
basicConstraints = CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
`

const run = promisify(execFile)

/** An authority of time in a folder: a root, and certificates that it has issued. */
export interface Authority {
  /** Holds the certificate of the root, PEM. */
  readonly root: string
  /** Answers a request (DER) with a certificate of this name. */
  reply(query: Uint8Array, options?: { readonly signer?: string; readonly digests?: string }): Promise<Buffer>
  /** Makes a request about bytes. */
  query(data: Uint8Array, ...options: readonly string[]): Promise<Buffer>
  /** Issues a certificate from this moment on, as `YYMMDDHHMMSSZ`. */
  issue(name: string, extensions: 'time' | 'web', from?: string, to?: string): Promise<void>
  openssl(...args: readonly string[]): Promise<string>
  file(name: string): string
}

/** Makes an authority whose certificate `tsa` is good. */
export async function makeAuthority(t: Test, name = 'Made Root'): Promise<Authority> {
  const folder = makeFolder(t)
  const file = (name: string) => join(folder, name)
  const openssl = async (...args: readonly string[]) => (await run('openssl', [...args], { cwd: folder })).stdout
  writeFileSync(file('serial'), '01\n')
  writeFileSync(file('certificates'), '1000\n')
  writeFileSync(file('index'), '')
  writeFileSync(file('made.cnf'), CONFIG(folder, 'sha256'))
  writeFileSync(file('other.cnf'), CONFIG(folder, 'sha512'))
  const rights = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign']
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'root.key', '-days', '30']
  await openssl('req', '-x509', ...key, '-out', 'root.pem', '-subj', `/CN=${name}`, ...rights)
  let replies = 0
  const issue: Authority['issue'] = async (name, extensions, from, to) => {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    await openssl('req', ...curve, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    const span = from === undefined || to === undefined ? ['-days', '20'] : ['-startdate', from, '-enddate', to]
    const issuer = ['-config', 'made.cnf', '-cert', 'root.pem', '-keyfile', 'root.key', '-extensions', extensions]
    await openssl('ca', '-batch', '-notext', ...issuer, ...span, '-in', `${name}.csr`, '-out', `${name}.pem`)
  }
  await issue('tsa', 'time')
  return {
    root: readFileSync(file('root.pem'), 'utf8'),
    issue,
    openssl,
    file,
    async reply(query, { signer = 'tsa', digests = 'made' } = {}) {
      const [asked, out] = [`${replies}.tsq`, `${replies++}.tsr`]
      writeFileSync(file(asked), query)
      const keys = ['-signer', `${signer}.pem`, '-inkey', `${signer}.key`, '-chain', 'root.pem']
      // It exits 1 for a refusal, which is an answer too.
      const replying = openssl('ts', '-reply', '-config', `${digests}.cnf`, '-queryfile', asked, ...keys, '-out', out)
      await replying.catch(() => {})
      return readFileSync(file(out))
    },
    async query(data, ...options) {
      const [asked, out] = [`${replies}.bytes`, `${replies++}.tsq`]
      writeFileSync(file(asked), data)
      await openssl('ts', '-query', '-data', asked, '-sha256', '-cert', ...options, '-out', out)
      return readFileSync(file(out))
    },
  }
}

/** The way in which a server answers: as the authority does, or with its own fault. */
export type Manner = (query: Buffer, response: ServerResponse) => void | Promise<void>

/** Serves an authority over HTTP; `answer` may be changed while it runs. */
export async function serveAuthority(t: Test, authority: Authority) {
  const asked: string[] = []
  const good: Manner = async (query, response) => {
    response.setHeader('content-type', 'application/timestamp-reply')
    response.end(await authority.reply(query))
  }
  const served = { url: '', asked, answer: good }
  const url = await startOrigin(t, async (request, response) => {
    asked.push(String(request.headers['content-type']))
    await served.answer(await buffer(request), response)
  })
  return Object.assign(served, { url: `${url}/tsr?key=hidden` })
}
