import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { counted } from '@sallyport/core'
import { ADDRESS_FORMS, AUDIT_FILE, addressWriter, readEntry } from '#log'
import type { Settings } from '#settings'
import type { PrivacyPlace } from './place.ts'

const KEPT = 'as long as you keep the file; Sallyport deletes no log'
/** Its writer has it open, and an erasure does not rewrite it under the writer. */
const STAYS = 'log lines are not rewritten; log rotation removes them'

/** The decision log, with the files that a rotation made of it, and the audit log of commands. */
export function logPlaces(config: Settings): readonly PrivacyPlace[] {
  return [
    config.log.file === undefined ? standardOutput() : logFiles(config, 'decision log', config.log.file),
    logFiles(config, 'audit log', join(config.dataDir, AUDIT_FILE)),
  ]
}

function standardOutput(): PrivacyPlace {
  const elsewhere = 'the log goes to standard output, so your log collector has the lines'
  return {
    place: 'decision log',
    where: 'standard output',
    kept: 'set by your log collector',
    exists: () => true,
    find: async () => ({ entries: [], elsewhere }),
    erase: async () => ({ erased: 0, stays: elsewhere }),
  }
}

function logFiles(config: Settings, place: string, file: string): PrivacyPlace {
  async function linesAbout(text: string): Promise<readonly unknown[]> {
    const forms = listForms(config, text)
    const found: unknown[] = []
    for (const path of listRotations(file)) {
      for await (const line of readLines(path)) {
        // A line about somebody names the address somewhere: only then is it worth reading.
        if (!forms.some((form) => line.includes(form))) continue
        const entry = readEntry(line)
        if (entry === undefined) continue
        const isAbout = 'audit' in entry ? line.includes(`"${text}"`) : forms.includes(entry.client ?? '')
        if (isAbout) found.push({ file: basename(path), ...entry })
      }
    }
    return found
  }
  return {
    place,
    where: file,
    kept: KEPT,
    exists: () => listRotations(file).length > 0,
    find: async (_, text) => ({ entries: await linesAbout(text) }),
    async erase(_, text) {
      const { length } = await linesAbout(text)
      return { erased: 0, stays: length === 0 ? undefined : `${counted(length, 'line')}: ${STAYS}` }
    },
  }
}

/** The address as any form writes it today: a truncated one may be others', a hash of an earlier day is nobody's. */
function listForms({ dataDir }: Settings, text: string): readonly string[] {
  return ADDRESS_FORMS.flatMap((form) => addressWriter(form, dataDir)(text, Date.now()) ?? [])
}

/** The file and those beside it that begin with its name: `decisions.log.1`, `decisions.log-20261124.gz`. */
function listRotations(file: string): readonly string[] {
  const folder = dirname(file)
  if (!existsSync(folder)) return []
  const name = basename(file)
  return readdirSync(folder)
    .filter((other) => other === name || other.startsWith(`${name}.`) || other.startsWith(`${name}-`))
    .map((other) => join(folder, other))
}

async function* readLines(path: string): AsyncIterable<string> {
  const raw = createReadStream(path)
  const text = path.endsWith('.gz') ? raw.pipe(createGunzip()) : raw
  raw.on('error', (error) => text.destroy(error))
  yield* createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })
}
