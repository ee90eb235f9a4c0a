import { spawnSync } from 'node:child_process'
import { writeLockedProject } from '../release/locked.ts'
import { makeFolder } from '../started.ts'

/* `npm run dependencies`: the licences of everything that customers install with the packages, and what is known against it. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT']

/** Packages whose licence no program can read, and their licence. */
const READ: Readonly<Record<string, string>> = {
  // The text of it is at the end of its Readme.md.
  only: 'MIT',
}

interface Licence {
  readonly license?: { readonly id?: string | undefined; readonly name?: string | undefined } | undefined
  readonly expression?: string | undefined
}

interface Bill {
  readonly components: readonly { readonly name: string; readonly licenses?: readonly Licence[] | undefined }[]
}

interface Advisories {
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> } | undefined
}

const PROJECT = makeFolder()
writeLockedProject(PROJECT)

function npm<T>(...args: readonly string[]): T | undefined {
  const options = { cwd: PROJECT, encoding: 'utf8', maxBuffer: 1 << 26 } as const
  const { stdout } = spawnSync('npm', [...args, '--package-lock-only'], options)
  return stdout.startsWith('{') ? JSON.parse(stdout) : undefined
}

/** Writes one line of the report, and fails the check where it is not good. */
function say(isGood: boolean, line: string): void {
  process.stdout.write(`${isGood ? 'pass' : 'FAIL'}  ${line}\n`)
  if (!isGood) process.exitCode = 1
}

const { components } = npm<Bill>('sbom', '--sbom-format', 'cyclonedx') ?? { components: [] }
say(components.length >= 20, `${components.length} packages are installed with Sallyport, development aside`)
const byLicence = new Map<string, string[]>()
for (const { name, licenses = [] } of components) {
  const said = licenses.map(({ license, expression }) => license?.id ?? expression ?? license?.name).join(', ')
  const licence = READ[name] ?? said
  byLicence.set(licence, [...(byLicence.get(licence) ?? []), name])
}
for (const [name, packages] of byLicence) say(ALLOWED.includes(name), `${name || 'no licence'}: ${packages.join(', ')}`)

const advisories = npm<Advisories>('audit', '--json')?.metadata?.vulnerabilities
if (advisories === undefined) process.stdout.write('skip  advisories: the registry gives none\n')
else say((advisories['critical'] ?? 0) === 0, `advisories: ${JSON.stringify(advisories)}`)
