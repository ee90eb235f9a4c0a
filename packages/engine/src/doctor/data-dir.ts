import { existsSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SallyportError } from '@sallyport/core'
import type { Config } from '#config'
import { closedFault, linkFault, nearest, placeFault } from '#files'
import {
  AGENT_KEYS,
  type CheckResult,
  describeReason,
  fail,
  failNow,
  inDataDir,
  isReadOnly,
  listAgentKeys,
  ok,
  warn,
} from '#service'

/** Compiled data, two downloads of every feed, and a compile beside them. */
const ROOM_BYTES = 2 ** 30

/** Examines the rights of the dataDir, the room that is left there, and who may read its keys. */
export async function examineDataDir(config: Config): Promise<readonly CheckResult[]> {
  const { dataDir, data, provenance } = config
  const path = resolve(dataDir)
  const fault = placeFault(path) ?? linkFault(path)
  if (fault !== undefined) return [fail(`${path} ${fault}.`, 'Set dataDir to a directory on a disk.', AT)]
  if (!existsSync(path)) return [examineAbsent(path, data.readOnly)]
  try {
    await inDataDir(config, async () => {
      if (data.readOnly) return void readdirSync(path)
      const probe = join(path, `doctor-${process.pid}.tmp`)
      try {
        writeFileSync(probe, 'x', { flush: true })
      } finally {
        // Also where the disk is full: the file is there, and empty.
        rmSync(probe, { force: true })
      }
    })
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const report = statSync(path).isDirectory() ? failNow : fail
    return [report(`${describeReason(error)}.`, /disk is full|used up/.test(error.message) ? MAKE_ROOM : GIVE, AT)]
  }
  const { bavail, bsize } = statfsSync(path)
  const free = bavail * bsize
  const room = `${(free / 2 ** 30).toFixed(1)} GiB free`
  // One that is named is among the files.
  const named = provenance.signingKey === undefined ? ['signing-key.pem', AGENT_KEYS] : [AGENT_KEYS]
  const open = named.map((name) => join(path, name)).filter(isReadByOthers)
  return [
    data.readOnly || free >= ROOM_BYTES
      ? ok(`${path} can be ${data.readOnly ? 'read' : 'written'}; ${room}.`)
      : warn(`${path}: ${room}.`, 'Free up 1 GiB for compiling and for two downloads of every feed.'),
    ...open.map((key) => fail(`${key} is readable by other users.`, `chmod 600 ${key}`)),
    ...examineAgentKeys(config),
  ]
}

function examineAgentKeys(config: Config): readonly CheckResult[] {
  if (!existsSync(join(config.dataDir, AGENT_KEYS))) return []
  try {
    const { agent, keys } = listAgentKeys(config, Date.now())
    return [ok(`Requests of ${agent} are signed by ${keys.find(({ signs }) => signs)?.id}.`)]
  } catch (error) {
    return [fail(`${describeReason(error).replace(/\.$/, '')}.`, 'Restore it, or remove it and run keys agent create.')]
  }
}

function examineAbsent(path: string, readOnly: boolean): CheckResult {
  const closed = closedFault(path)
  if (closed !== undefined) return failNow(`${closed}.`, OPEN, AT)
  const above = nearest(path)
  if (!statSync(above).isDirectory()) return fail(`${above} is not a folder.`, 'Set another dataDir.', AT)
  if (readOnly) {
    const found = `${path} does not exist, and data.readOnly prevents its creation.`
    return failNow(found, 'Run sallyport data compile where the directory is writable.', AT)
  }
  if (!isReadOnly(above)) return ok(`${path} does not exist yet; the first start creates it.`)
  const found = `${path} does not exist, and ${above} is not writable.`
  return failNow(found, 'Create it, and make the user who runs Sallyport its owner.', AT)
}

const AT = ['dataDir']
const MAKE_ROOM = 'Free up disk space, or set another dataDir.'
const OPEN = 'Give the user who runs Sallyport access (chmod +x), or set another dataDir.'
const GIVE = 'Make the user who runs Sallyport its owner (chown, chmod 700), or set another dataDir.'

function isReadByOthers(file: string): boolean {
  const stats = process.platform === 'win32' ? undefined : statSync(file, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & 0o077) !== 0
}
