import { existsSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SallyportError } from '@sallyport/core'
import type { Config } from '#config'
import { closedFault, linkFault, nearest, placeFault } from '#files'
import { type CheckResult, fail, failNow, inDataDir, isReadOnly, ok, reasonOf, warn } from '#service'

/** Compiled data, two downloads of every feed, and a compile beside them. */
const ROOM_BYTES = 2 ** 30

/** Rights of the dataDir, the room that is left there, and who may read its signing key. */
export async function examineDataDir(config: Config): Promise<readonly CheckResult[]> {
  const { dataDir, data, provenance } = config
  const path = resolve(dataDir)
  const fault = placeFault(path) ?? linkFault(path)
  if (fault !== undefined) return [fail(`${path} ${fault}.`, 'Name a folder on a disk: dataDir.', AT)]
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
    return [
      (statSync(path).isDirectory() ? failNow : fail)(
        `${reasonOf(error)}.`,
        /disk is full|used up/.test(error.message) ? MAKE_ROOM : GIVE,
        AT,
      ),
    ]
  }
  const { bavail, bsize } = statfsSync(path)
  const free = bavail * bsize
  const room = `${(free / 2 ** 30).toFixed(1)} GiB free`
  // One that is named is among the files.
  const key = provenance.signingKey === undefined ? join(path, 'signing-key.pem') : undefined
  return [
    data.readOnly || free >= ROOM_BYTES
      ? ok(`${path} can be ${data.readOnly ? 'read' : 'written'}; ${room}.`)
      : warn(`${path}: ${room}.`, 'A compile and two downloads of every feed take up to 1 GiB: make room.'),
    ...(key !== undefined && isReadByOthers(key) ? [fail(`${key} may be read by others.`, `chmod 600 ${key}`)] : []),
  ]
}

function examineAbsent(path: string, readOnly: boolean): CheckResult {
  const closed = closedFault(path)
  if (closed !== undefined) return failNow(`${closed}.`, OPEN, AT)
  const above = nearest(path)
  if (!statSync(above).isDirectory()) return fail(`${above} is not a folder.`, 'Name another dataDir.', AT)
  if (readOnly)
    return failNow(
      `${path} is not there, and data.readOnly forbids to make it.`,
      'sallyport data compile where it can be written.',
      AT,
    )
  return isReadOnly(above)
    ? failNow(
        `${path} is not there, and ${above} cannot be written.`,
        'Make it, and give it to the user who runs Sallyport.',
        AT,
      )
    : ok(`${path} is not there; the first start makes it.`)
}

const AT = ['dataDir']
const MAKE_ROOM = 'Make room there, or name another dataDir.'
const OPEN = 'Open it to the user who runs Sallyport (chmod +x), or name another dataDir.'
const GIVE = 'Give it to the user who runs Sallyport (chown, chmod 700), or name another dataDir.'

function isReadByOthers(file: string): boolean {
  const stats = process.platform === 'win32' ? undefined : statSync(file, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & 0o077) !== 0
}
