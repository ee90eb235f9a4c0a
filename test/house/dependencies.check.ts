import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeLockedProject } from '../release/locked.ts'

/* `npm run dependencies`: the licences of everything that customers install with the packages, and what is known against it. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT']

/** Packages whose licence no program can read, and their licence. */
const READ: Readonly<Record<string, string>> = {
  // The text of it is at the end of its Readme.md.
  only: 'MIT',
}

interface Component {
  readonly name: string
  readonly licenses?:
    | readonly {
        readonly license?: { readonly id?: string | undefined; readonly name?: string | undefined } | undefined
        readonly expression?: string | undefined
      }[]
    | undefined
}

interface Advisories {
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> } | undefined
}

const PROJECT = mkdtempSync(join(tmpdir(), 'sallyport-dependencies-'))
process.once('exit', () => rmSync(PROJECT, { recursive: true }))
writeLockedProject(PROJECT)

function npm(...args: readonly string[]): unknown {
  const { stdout } = spawnSync('npm', [...args, '--package-lock-only'], {
    cwd: PROJECT,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}

function findLicence({ name, licenses = [] }: Component): string {
  const said = licenses.map(({ license, expression }) => license?.id ?? expression ?? license?.name).join(', ')
  return READ[name] ?? said
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

function checkLicences(): boolean {
  const bill = npm('sbom', '--sbom-format', 'cyclonedx') as { readonly components: readonly Component[] } | undefined
  if (bill === undefined || bill.components.length < 20) {
    say('FAIL  npm gives no bill of materials')
    return false
  }
  const byLicence = new Map<string, string[]>()
  for (const component of bill.components) {
    const licence = findLicence(component)
    byLicence.set(licence, [...(byLicence.get(licence) ?? []), component.name])
  }
  say(`${bill.components.length} packages are installed with Sallyport, without those that are for development`)
  let known = true
  for (const [licence, names] of [...byLicence].sort((one, other) => other[1].length - one[1].length)) {
    const allowed = ALLOWED.includes(licence) || names.every((name) => name in READ)
    known &&= allowed
    const shown = names.length > 12 ? `${names.slice(0, 12).join(', ')} …` : names.join(', ')
    say(`${allowed ? 'pass' : 'FAIL'}  ${licence || 'no licence'}, ${names.length}: ${shown}`)
  }
  return known
}

function checkAdvisories(): boolean {
  const found = (npm('audit', '--json') as Advisories | undefined)?.metadata?.vulnerabilities
  if (found === undefined) {
    say('skip  advisories: the registry gives none')
    return true
  }
  const counts = Object.entries(found)
    .filter(([severity, count]) => severity !== 'total' && count > 0)
    .map(([severity, count]) => `${count} ${severity}`)
  const good = (found['critical'] ?? 0) === 0
  say(`${good ? 'pass' : 'FAIL'}  advisories: ${counts.join(', ') || 'none'}`)
  return good
}

const outcomes = [checkLicences(), checkAdvisories()]
process.exitCode = outcomes.every(Boolean) ? 0 : 1
