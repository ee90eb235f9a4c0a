import { errorText, SallyportError } from '@sallyport/core'
import type { Config, ConfigRead, Reloaded, Sallyport } from '@sallyport/engine'
import type { ConfigSource } from '../settings/config-file.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { notifySystemd } from '../workers/systemd.ts'
import type { Standing } from '../workers/worker.ts'
import type { ReloadCause } from './reload.ts'

/** A service that runs, and how it takes another configuration over. */
export interface Running {
  readonly sallyport: Sallyport
  readonly url: string
  readonly source: ConfigSource
  readonly warn: (read: Pick<ConfigRead, 'warnings'>) => void
  readonly take: (next: Config) => Promise<Reloaded>
  readonly standing: Standing
}

/** Returns what takes over the configuration as it is at each call; the process that leads says what that came to. */
export function createReloads(
  running: Running,
  terminal: Terminal,
): (cause: ReloadCause, ending: AbortSignal) => Promise<void> {
  const { sallyport, standing, url } = running
  let refused = false
  sallyport.meter.read('reloadRefused', () => [[[], Number(refused)]])
  return async (cause, ending) => {
    if (standing.leads) await notifySystemd('reloading', 'Reloading the configuration', terminal)
    const { text, audit } = await reload(running, cause, ending)
    if (ending.aborted) return
    refused = audit.error !== undefined
    if (standing.leads) {
      sallyport.log.audit(audit)
      terminal.err(`sallyport: ${text}`)
      await notifySystemd('ready', `Listening on ${url}; ${text}`, terminal)
    }
    standing.reloaded(sallyport.config)
  }
}

const RELOAD = { kind: 'reload_refused', about: '' } as const

/** Takes over the configuration as it is now, or keeps the old one; resolves with which of the two, and why. */
async function reload(
  { sallyport, source, warn, take }: Running,
  cause: ReloadCause,
  ending: AbortSignal,
): Promise<{ readonly text: string; readonly audit: Parameters<Sallyport['log']['audit']>[0] }> {
  const audit = { what: 'reload', who: cause }
  try {
    sallyport.log.reopen()
    const read = await source.readSettled(ending)
    warn(read)
    const before = sallyport.config
    const { changed, needRestart } = await take(read.config)
    const taken = [...changed.map((key) => changeText(key, before, read.config)), ...read.changedFiles]
    const news = taken.length === 0 ? 'nothing has changed' : `${taken.join(', ')} taken over`
    const later = needRestart.map((key) => changeText(key, before, read.config)).join(', ')
    sallyport.raise({ ...RELOAD, over: true, text: 'The configuration was taken over.' })
    const text = `configuration read again: ${news}${later === '' ? '' : `; ${later} after a restart only`}.`
    return { text, audit: { ...audit, details: { changed, needRestart } } }
  } catch (error) {
    const code = error instanceof SallyportError ? error.code : 'internal_error'
    const why = errorText(error)
    const [first = ''] = why.split('\n', 1)
    if (!ending.aborted)
      sallyport.raise({ ...RELOAD, text: `The configuration was not taken over: ${first}`, details: { code } })
    const text = `configuration kept as it was: ${why}`
    return { text, audit: { ...audit, error: code } }
  }
}

/** A key that a reload finds changed, with what has become of it; no value is shown, because it may be a secret. */
function changeText(key: string, before: unknown, after: unknown): string {
  const [one, other] = [valueAt(before, key), valueAt(after, key)]
  if (other === undefined) return `${key} (removed)`
  if (one === undefined) return `${key} (added)`
  if (!Array.isArray(one) || !Array.isArray(other) || one.length === other.length) return key
  return `${key} (${other.length}, were ${one.length})`
}

function valueAt(value: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((inner, step) => Object(inner)[step], value)
}
