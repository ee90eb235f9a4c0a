import { setTimeout as delay } from 'node:timers/promises'
import { errorText, SallyportError } from '@sallyport/core'
import type { Config, ConfigRead, Reloaded, Sallyport } from '@sallyport/engine'
import { systemFault } from '@sallyport/engine/files'
import type { ConfigSource } from '../settings/config-file.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Hangups } from '../workers/signals.ts'
import { notifySystemd } from '../workers/systemd.ts'
import type { Standing } from '../workers/worker.ts'

const LOOK_MS = 1_000
/** A notice comes after so many failed checks: a file may be missing for a moment while a program replaces it. */
const MISSED_LOOKS = 2

type ReloadCause = 'SIGHUP' | 'watch'

/**
 * Calls `reload` at SIGHUP and when a watched source has changed; one call at a time, and one for all causes that come meanwhile. It checks
 * at an interval, because events of a folder end with the folder, and miss the target of a link. Returns a function that stops this and a
 * running reload; SIGHUP then does nothing, because by default it would end a process that finishes its last requests.
 */
export function onReload(
  reload: (cause: ReloadCause, signal: AbortSignal) => Promise<void>,
  hangups: Hangups,
  hasChanged: ConfigSource['hasChanged'] | undefined,
  onNotice: (message: string) => void,
): () => void {
  const ending = new AbortController()
  const { signal } = ending
  let waiting: ReloadCause | undefined
  let running = false

  const next = async (cause: ReloadCause): Promise<void> => {
    waiting ??= cause
    if (running) return
    running = true
    try {
      while (waiting !== undefined && !signal.aborted) {
        const now = waiting
        waiting = undefined
        await reload(now, signal)
      }
    } finally {
      running = false
    }
  }
  const watch = async (hasChanged: ConfigSource['hasChanged']): Promise<void> => {
    for (let missed = 0; ; ) {
      await delay(LOOK_MS, undefined, { signal, ref: false })
      // A reload in progress reads this change too.
      if (running) continue
      try {
        const changed = hasChanged()
        if (missed >= MISSED_LOOKS) onNotice('watch: the configuration is readable again')
        missed = 0
        if (changed) await next('watch')
      } catch (error) {
        const why = systemFault(error) ?? errorText(error)
        if (++missed === MISSED_LOOKS)
          onNotice(`watch: ${why}. The configuration in force stays; the file is checked every second`)
      }
    }
  }

  hangups(() => void next('SIGHUP'))
  // Only the abort of its pause ends it.
  if (hasChanged !== undefined) watch(hasChanged).catch(() => {})
  return () => ending.abort()
}

/** A service that is open, and how it takes over another configuration. */
export interface Running {
  readonly sallyport: Sallyport
  readonly url: string
  readonly source: ConfigSource
  readonly warn: (read: Pick<ConfigRead, 'warnings'>) => void
  readonly take: (next: Config) => Promise<Reloaded>
  readonly standing: Standing
}

/** Returns a function that adopts the current configuration at each call; the process that leads reports the outcome. */
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

/** Adopts the current configuration, or keeps the old one; resolves to the outcome and its reason. */
async function reload(
  { sallyport, source, warn, take }: Running,
  cause: ReloadCause,
  ending: AbortSignal,
): Promise<{ readonly text: string; readonly audit: Parameters<Sallyport['log']['audit']>[0] }> {
  const audit = { what: 'reload', who: cause }
  const event = { kind: 'reload_refused', about: '' } as const
  try {
    sallyport.log.reopen()
    const read = await source.readSettled(ending)
    warn(read)
    const before = sallyport.config
    const { changed, needRestart } = await take(read.config)
    const describe = (key: string) => changeText(key, before, read.config)
    const taken = [...changed.map(describe), ...read.changedFiles]
    const news = taken.length === 0 ? 'nothing has changed' : `${taken.join(', ')} applied`
    const later = needRestart.map(describe).join(', ')
    sallyport.raise({ ...event, over: true, text: 'The configuration was reloaded.' })
    const text = `configuration reloaded: ${news}${later === '' ? '' : `; ${later} needs a restart`}.`
    return { text, audit: { ...audit, details: { changed, needRestart } } }
  } catch (error) {
    const code = error instanceof SallyportError ? error.code : 'internal_error'
    const why = errorText(error)
    const [first = ''] = why.split('\n', 1)
    if (!ending.aborted)
      sallyport.raise({ ...event, text: `The configuration was not reloaded: ${first}`, details: { code } })
    const text = `reload rejected, configuration unchanged: ${why}`
    return { text, audit: { ...audit, error: code } }
  }
}

/** Describes a key that a reload finds changed; shows no value, because a value may be a secret. */
function changeText(key: string, before: unknown, after: unknown): string {
  if (valueAt(after, key) === undefined) return `${key} (removed)`
  return valueAt(before, key) === undefined ? `${key} (added)` : key
}

function valueAt(value: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((inner, step) => Object(inner)[step], value)
}
