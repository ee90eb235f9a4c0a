import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Makes a certificate of loopback in a folder, by the openssl of the machine. */
export function certificate(folder: string, days = 30): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, 'site.pem'), join(folder, 'site.key')]
  const names = 'subjectAltName=DNS:localhost,DNS:site.example,IP:127.0.0.1'
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert]
  const subject = ['-days', String(days), '-subj', '/CN=localhost', '-addext', names]
  execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' })
  return { cert, key }
}
