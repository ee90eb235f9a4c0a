import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a certificate for a.example in a folder of its own. */
export function madeCertificate(): { readonly files: { readonly cert: string; readonly key: string }; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-fuzz-'))
  const files = { cert: join(folder, 'site.pem'), key: join(folder, 'site.key') }
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  execFileSync('openssl', [...made, '-subj', '/CN=a.example', '-keyout', files.key, '-out', files.cert], {
    stdio: 'ignore',
  })
  return { files, remove: () => rmSync(folder, { recursive: true }) }
}
