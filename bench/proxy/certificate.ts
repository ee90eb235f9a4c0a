import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Names the PEM files of a certificate and its key. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** Makes a certificate as most sites have one, ECDSA on P-256, in this folder. It needs `openssl`. */
export async function makeCertificate(folder: string): Promise<CertificateFiles> {
  const files = { cert: join(folder, 'site.pem'), key: join(folder, 'site.key') }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', files.key]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  await promisify(execFile)('openssl', ['req', '-x509', '-days', '7', ...names, ...key, '-out', files.cert])
  return files
}
