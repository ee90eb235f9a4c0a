import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suggestion } from '@sallyport/core'
import { environmentName, readJurisdictionPolicy, readSigningKey } from '#attestation'
import type { Config } from '#config'
import { isInline, readKeptLists } from '#features/lists'
import { openRobotsFile } from '#features/robots'
import { fileReason, readFault } from '#files'
import {
  type CheckResult,
  describeReason,
  fail,
  failNow,
  ok,
  PLACES,
  readRefusalPage,
  unknownPlaces,
  warn,
} from '#service'
import { fileFault } from './file-fault.ts'
import { unmatchedWarnings } from './list-use.ts'

/** Files that the configuration names beside certificates: each is read as a start reads it, and none is made. */
export async function examineFiles(config: Config): Promise<readonly CheckResult[]> {
  const { refusal, provenance, robots, log } = config
  const { signingKey } = provenance
  const looks: readonly (readonly [file: string | undefined, path: readonly string[], look: () => unknown])[] = [
    [refusal.template, ['refusal', 'template'], () => readRefusalPage(config)],
    [provenance.policy, ['provenance', 'policy'], () => readJurisdictionPolicy(provenance.policy)],
    [signingKey, ['provenance', 'signingKey'], () => readSigningKey(signingKey ?? '')],
    [robots.file, ['robots', 'file'], () => openRobotsFile(robots.file ?? '')],
  ]
  const named = looks.filter(([file]) => file !== undefined && !isUnset(file))
  const read = await Promise.all(named.map(([, path, look]) => lookAt(path, look)))
  const logged = log.file === undefined ? [] : fileFault(log.file, ['log', 'file'])
  const unset = signingKey !== undefined && isUnset(signingKey) ? [unsetKey(signingKey)] : []
  const more = [...missingSources(config), ...templateWarnings(config), ...(await listWarnings(config))]
  const found = [...read.flat(), ...unset, ...logged, ...more]
  const count = named.length + Object.values(config.lists).filter(findFile).length + (log.file === undefined ? 0 : 1)
  if (found.length > 0) return found
  return [ok(count === 0 ? 'There are no files besides data and certificates.' : `${count} of ${count} are usable.`)]
}

async function lookAt(path: readonly string[], look: () => unknown): Promise<readonly CheckResult[]> {
  try {
    await look()
    return []
  } catch (error) {
    // A finding has the name of the key apart.
    const reason = describeReason(error)
      .replace(/^[\w.]+: /, '')
      .replace(/\.$/, '')
    return [fail(`${reason}.`, `Correct ${path.join('.')}, or the file.`, path)]
  }
}

/** A template that cannot be read is a fault of its own. */
function templateWarnings({ refusal }: Config): readonly CheckResult[] {
  let text = ''
  try {
    text = readRefusalPage({ refusal }).template ?? ''
  } catch {}
  return unknownPlaces(text).map((name) => {
    const found = `${refusal.template} has the unknown placeholder {{${name}}}${suggestion(name, PLACES)}`
    return warn(`${found}.`, 'Correct the name, or remove the braces.', ['refusal', 'template'])
  })
}

async function listWarnings(config: Config): Promise<readonly CheckResult[]> {
  const lists = await readKeptLists(config)
  const found = [...lists].flatMap(([name, list]) => {
    const file = findFile(config.lists[name])
    const { news } = list
    if (file !== undefined && news !== undefined)
      return [fail(`${file} ${news}.`, `Correct lists.${name}.file, or the file.`, ['lists', name, 'file'])]
    return list.takeLeftNews().map((sentence) => {
      const [left, advice = ''] = sentence.split(/\. (?=[A-Z])/)
      return warn(`${left}.`, advice, ['lists', name])
    })
  })
  return [...found, ...unmatchedWarnings(config, lists)]
}

function findFile(list: Config['lists'][string] | undefined): string | undefined {
  return list === undefined || isInline(list) || !('file' in list) ? undefined : list.file
}

/** Whether it is a variable that is not set: here, which may be otherwise where the service is started. */
function isUnset(source: string): boolean {
  const variable = environmentName(source)
  return variable !== undefined && process.env[variable] === undefined
}

function unsetKey(source: string): CheckResult {
  const advice = 'Set it to a PEM private key in the environment of the service.'
  return failNow(`The variable ${environmentName(source)} is not set.`, advice, ['provenance', 'signingKey'])
}

/** Sources that are files of this machine: without one the service goes on, and says that it is missing. */
function missingSources({ data }: Config): readonly CheckResult[] {
  return Object.entries(data.sources).flatMap(([id, { url = '', enabled = true }]) => {
    if (!enabled || !URL.canParse(url) || new URL(url).protocol !== 'file:') return []
    const file = fileURLToPath(url)
    const found = readFault(file) ?? emptyFault(file)
    if (found === undefined) return []
    return [warn(`${file} ${found}.`, `Without this file, ${id} is not loaded.`, ['data', 'sources', id, 'url'])]
  })
}

function emptyFault(file: string): string | undefined {
  try {
    return statSync(file).size === 0 ? 'is empty' : undefined
  } catch (error) {
    return fileReason(error)
  }
}
