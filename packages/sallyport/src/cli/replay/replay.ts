import {
  type AccountEventName,
  type Action,
  type AgentClass,
  counted,
  countUnjudged,
  type Decision,
  parseTrust,
  SallyportError,
  unjudgedNotes,
  type Writable,
} from '@sallyport/core'
import { type Config, createTrialCounter, type Sallyport } from '@sallyport/engine'
import { ACCESS_FORMATS, READABLE, readAccessLog } from '../log/access/access-log.ts'
import { createProxied, proxiedNote } from '../log/access/proxied.ts'
import {
  type AccessFormat,
  describeLacks,
  describeUnread,
  type LoggedRequest,
  sumUnread,
  type Unread,
} from '../log/access/reading.ts'
import { lateNote } from '../log/access/sort-lines.ts'
import { describeCut } from '../log/lines.ts'
import { judgeEvent } from '../requests/events.ts'
import { countDescribed } from '../requests/requests.ts'
import { inputName } from '../terminal/input.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type Actions = Record<Action, number>

/** Compares the actions of two policies on one class of visitors. */
export interface ClassRow {
  readonly class: AgentClass | `event ${AccountEventName}`
  readonly requests: number
  readonly before: Actions
  readonly after: Actions
  readonly changed: number
  /** Counts requests that a trial rule of the other policy would decide more strictly. */
  readonly onTrial: number
}

type Counts = Writable<Omit<ClassRow, 'class'>>

export type Replayed = Awaited<ReturnType<typeof replayLog>>

export interface Both<T> {
  readonly before: T
  readonly after: T
}

/** Says what counts of challenges leave open. */
export const NO_PASSES = 'a log does not record passes, so a visitor with a pass counts as challenged on every request.'

const NO_HEADERS = 'A log has no headers but the user agent: verdicts use only user agent, address and path.'

/** Decides each request of a log, in the order of their times. Rejects with `invalid_request` where no line can be judged. */
export async function replayLog(
  log: string,
  { trustProxy, clientHeader }: Pick<Config, 'trustProxy' | 'clientHeader'>,
  decide: (request: LoggedRequest) => Promise<Both<Decision>>,
  terminal: Terminal,
  formats: readonly AccessFormat[] = ACCESS_FORMATS,
) {
  const rows = new Map<ClassRow['class'], Counts>()
  const lacking: Writable<Unread> = {}
  const proxied = createProxied()
  const unjudged = countUnjudged()
  const trust = parseTrust(trustProxy, clientHeader)
  const onCut = () => terminal.err(`sallyport: ${describeCut(log)}`)
  let [requests, late] = [0, 0]
  for await (const { reading, isLate } of readAccessLog(log, formats, onCut, trust)) {
    if (isLate) late++
    if ('lacks' in reading) {
      lacking[reading.lacks] = (lacking[reading.lacks] ?? 0) + 1
      continue
    }
    requests++
    proxied.add(reading.address)
    const { before, after } = await decide(reading)
    const name = reading.event ? (`event ${reading.event.event}` as const) : before.inspection.agent.class
    const row = rows.get(name) ?? { requests: 0, before: none(), after: none(), changed: 0, onTrial: 0 }
    rows.set(name, row)
    row.requests++
    row.before[before.action]++
    row.after[after.action]++
    if (before.action !== after.action) row.changed++
    if (after.trial !== undefined) row.onTrial++
    unjudged.add(after.unjudged ?? [])
  }
  const unread = sumUnread(lacking)
  if (requests === 0 && unread > 0)
    throw new SallyportError(
      'invalid_request',
      `${inputName(log)}: none of ${counted(unread, 'line')} can be evaluated: ${describeLacks(lacking)}. ${READABLE}`,
    )
  const classes: readonly ClassRow[] = [...rows].map(([name, row]) => ({ class: name, ...row }))
  return {
    requests,
    /** Counts requests with earlier times than requests long before them. */
    late,
    unread,
    lacking,
    proxied: proxied.result(requests),
    classes: classes.toSorted((x, y) => y.requests - x.requests),
    /** Names rules of the other policy that lines leave open. */
    unjudged: unjudged.rules,
  }
}

/** Creates a function that decides requests of a log by one configuration; its counters go by the times of the log. */
export function createDecider(sallyport: Sallyport, config: Config) {
  let now = Date.now()
  const counter = createTrialCounter(config, { now: () => now })
  return async (request: LoggedRequest): Promise<Decision> => {
    const { address, method, target, at, status, event, mcp } = request
    now = at
    const userAgent = request.userAgent === '' ? undefined : request.userAgent
    // A missing user agent is known, and judged; other headers, and the visitor's behaviour, are unknown.
    const fields = userAgent === undefined ? [] : ['User-Agent', userAgent]
    const open = { behaviour: 'unknown', mcp: method === 'POST' ? 'unknown' : undefined } as const
    const asked = { fields, kept: ['user-agent'], target, ...open }
    const about = { fields, headersKnown: userAgent === undefined, method, target, at, asked, mcp }
    const decided = await sallyport.check(address, about)
    return event ? judgeEvent(counter, decided, event, fields) : countDescribed(counter, { userAgent }, decided, status)
  }
}

/** Lists what a reader of the counts must know: omitted lines, proxies, open rules, and what a log lacks. */
export function replayNotes({ requests, late, unread, lacking, proxied, unjudged }: Replayed): readonly string[] {
  const left = unread === 0 ? [] : [describeUnread(lacking)]
  const disorder = late === 0 ? [] : [lateNote(late)]
  const behind = proxied === undefined ? [] : [proxiedNote(proxied, requests)]
  return [...left, ...disorder, ...behind, ...unjudgedNotes(unjudged, requests, 'the log'), NO_HEADERS]
}

function none(): Actions {
  return { allow: 0, flag: 0, redirect: 0, challenge: 0, offer: 0, throttle: 0, block: 0 }
}
