import { counted } from '@sallyport/core'
import { ORIGIN } from '../lists/crowdsec-decisions.ts'
import type { ExportedBan } from './exported-ban.ts'

/** The scope and scenario of a ban, as CrowdSec calls them. */
export function placeOf({ rule, target }: ExportedBan) {
  return { scope: target.includes('/') ? 'Range' : 'Ip', value: target, scenario: `sallyport/${rule}` }
}

/** A ban as an alert that brings its own decision: members that its API requires are there, though nothing fills them. */
export function alertOf(exported: ExportedBan, now: number): object {
  const { ban, rule, target } = exported
  const { scope, value, scenario } = placeOf(exported)
  const since = new Date(ban.since).toISOString()
  const duration = `${Math.max(1, Math.ceil((ban.until - now) / 1_000))}s`
  return {
    scenario,
    scenario_hash: '',
    scenario_version: '',
    message: `${target} is banned by ${rule} of Sallyport: ${counted(ban.count, 'strike')}, the last ${ban.on}`,
    events_count: ban.count,
    start_at: since,
    stop_at: since,
    capacity: 0,
    leakspeed: '0',
    simulated: false,
    remediation: true,
    events: [],
    source: { scope, value, [scope === 'Ip' ? 'ip' : 'range']: value },
    decisions: [{ origin: ORIGIN, type: 'ban', scope, value, duration, scenario }],
  }
}
