import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nearest, placeFault } from '#files'
import { readJurisdictionPolicy } from '../attestation/provenance.ts'
import { environmentName, readKeyFile } from '../attestation/signing-key.ts'
import type { Config } from '../config/schema.ts'
import { refusalPageOf } from '../refusal-page.ts'
import { openRobotsFile } from '../site-robots.ts'
import { type CheckResult, fail, failNow, ok, reasonOf, warn } from './finding.ts'

/** Files that the configuration names beside certificates: each is read as a start reads it, and none is made. */
export async function examineFiles(config: Config): Promise<readonly CheckResult[]> {
  const { refusal, provenance, robots, log } = config
  const { signingKey } = provenance
  const keyFile = signingKey === undefined || environmentName(signingKey) !== undefined ? undefined : signingKey
  const looks: readonly (readonly [file: string | undefined, path: readonly string[], look: () => unknown])[] = [
    [refusal.template, ['refusal', 'template'], () => refusalPageOf(config)],
    [provenance.policy, ['provenance', 'policy'], () => readJurisdictionPolicy(provenance.policy)],
    [keyFile, ['provenance', 'signingKey'], () => readKeyFile(keyFile ?? '')],
    [robots.file, ['robots', 'file'], () => openRobotsFile(robots.file ?? '')],
  ]
  const named = looks.filter(([file]) => file !== undefined)
  const read = await Promise.all(named.map(([, path, look]) => lookAt(path, look)))
  const logged = log.file === undefined ? [] : logFault(log.file)
  const found = [...read.flat(), ...logged, ...missingSources(config)]
  const count = named.length + (log.file === undefined ? 0 : 1)
  if (found.length > 0) return found
  return [ok(count === 0 ? 'None is named beside data and certificates.' : `${count} of ${count} can be used.`)]
}

async function lookAt(path: readonly string[], look: () => unknown): Promise<readonly CheckResult[]> {
  try {
    await look()
    return []
  } catch (error) {
    return [fail(sentence(error), `Correct ${path.join('.')}, or the file.`, path)]
  }
}

/** Without the name of the key, which a finding has apart. */
function sentence(error: unknown): string {
  return `${reasonOf(error)
    .replace(/^[\w.]+: /, '')
    .replace(/\.$/, '')}.`
}

/** Whether the log can be appended to; a file that is not there yet is not made. */
function logFault(named: string): readonly CheckResult[] {
  const path = ['log', 'file']
  const file = resolve(named)
  const place = placeFault(file)
  if (place !== undefined) return [fail(`${file} ${place}.`, 'Name a file on a disk, or leave log.file away.', path)]
  const there = nearest(existsSync(file) ? file : dirname(file))
  const isFolder = statSync(there).isDirectory()
  if (there === file && isFolder) return [fail(`${file} is a folder.`, 'Name a file in it.', path)]
  if (there !== file && !isFolder) return [fail(`${there} is not a folder.`, 'Name a file in a folder.', path)]
  try {
    accessSync(there, constants.W_OK)
    return []
  } catch {
    const advice = 'Give it to the user who runs Sallyport, or name another file.'
    return [failNow(`${there} cannot be written by this user.`, advice, path)]
  }
}

/** Sources that are files of this machine: without one the service goes on, and says that it is missing. */
function missingSources({ data }: Config): readonly CheckResult[] {
  return Object.entries(data.sources).flatMap(([id, { url = '', enabled = true }]) => {
    if (!enabled || !URL.canParse(url) || new URL(url).protocol !== 'file:') return []
    const file = fileURLToPath(url)
    if (existsSync(file)) return []
    return [warn(`${file} does not exist.`, `Without it ${id} is not loaded.`, ['data', 'sources', id, 'url'])]
  })
}
