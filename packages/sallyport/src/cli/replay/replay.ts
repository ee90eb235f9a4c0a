import {
  type Action,
  type AgentClass,
  type Counter,
  counted,
  countUnjudged,
  type Decision,
  parseTrust,
  SallyportError,
  type UnjudgedRule,
  unjudgedNotes,
  type Writable,
} from '@sallyport/core'
import type { Config, Sallyport } from '@sallyport/engine'
import { readAccessLog } from '../log/access/access-log.ts'
import type { AccessFormat } from '../log/access/format.ts'
import { ACCESS_FORMATS, READABLE } from '../log/access/formats.ts'
import { createProxied, type Proxied, proxiedNote } from '../log/access/proxied.ts'
import type { LoggedRequest } from '../log/access/reading.ts'
import { lateNote } from '../log/access/sort-lines.ts'
import { createUnread, describeUnread, type Unread } from '../log/access/unread.ts'
import { describeCut } from '../log/lines.ts'
import { countDescribed } from '../requests/requests.ts'
import { inputName } from '../terminal/input.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Requests by action. */
export type Actions = Record<Action, number>

/** The actions of two policies on one class of visitors. */
export interface ClassRow {
  readonly class: AgentClass
  readonly requests: number
  readonly before: Actions
  readonly after: Actions
  /** Requests with another action. */
  readonly changed: number
  /** Requests that a rule on trial of the other policy would decide more strictly. */
  readonly onTrial: number
}

type Counts = Writable<Omit<ClassRow, 'class'>>

export interface Replayed {
  readonly requests: number
  /** Requests whose times are earlier than those of requests long before them. */
  readonly late: number
  readonly unread: Unread
  readonly proxied: Proxied | undefined
  readonly classes: readonly ClassRow[]
  /** Rules of the other policy that lines leave open. */
  readonly unjudged: readonly UnjudgedRule[]
}

/** What the policy in force and the other have. */
export interface Both<T> {
  readonly before: T
  readonly after: T
}

/** What counts of challenges leave open. */
export const NO_PASSES = 'a log holds no passes, so a visitor who solved once counts each time.'

/** What every replay leaves open. */
const NO_HEADERS = 'A log holds no headers but the user agent: verdicts rest on that, the address and the path.'

/** Decides each request of a log, in the order of their times. Rejects with `invalid_request` where not one line of it can be judged. */
export async function replayLog(
  log: string,
  { trustProxy, clientHeader }: Pick<Config, 'trustProxy' | 'clientHeader'>,
  decide: (request: LoggedRequest) => Promise<Both<Decision>>,
  terminal: Terminal,
  formats: readonly AccessFormat[] = ACCESS_FORMATS,
): Promise<Replayed> {
  const rows = new Map<AgentClass, Counts>()
  const unread = createUnread()
  const proxied = createProxied()
  const unjudged = countUnjudged()
  const trust = parseTrust(trustProxy, clientHeader)
  const onCut = () => terminal.err(`sallyport: ${describeCut(log)}`)
  let [requests, late] = [0, 0]
  for await (const { reading, isLate } of readAccessLog(log, formats, onCut, trust)) {
    if (isLate) late++
    if ('lacks' in reading) {
      unread.add(reading.lacks)
      continue
    }
    requests++
    proxied.add(reading.address)
    const { before, after } = await decide(reading)
    const name = before.inspection.agent.class
    const row = rows.get(name) ?? { requests: 0, before: none(), after: none(), changed: 0, onTrial: 0 }
    rows.set(name, row)
    row.requests++
    row.before[before.action]++
    row.after[after.action]++
    if (before.action !== after.action) row.changed++
    if (after.trial !== undefined) row.onTrial++
    unjudged.add(after.unjudged ?? [])
  }
  if (requests === 0 && unread.lines > 0)
    throw new SallyportError(
      'invalid_request',
      `${inputName(log)}: not one of ${counted(unread.lines, 'line')} can be judged: ${unread.describe()}. ${READABLE}`,
    )
  const classes = [...rows].map(([name, row]) => ({ class: name, ...row }))
  return {
    requests,
    late,
    unread,
    proxied: proxied.result(requests),
    classes: classes.sort((x, y) => y.requests - x.requests),
    unjudged: unjudged.rules,
  }
}

/** Decides a logged request, and counts it. */
export async function decideLogged(
  { address, method, target, at, status, ...request }: LoggedRequest,
  sallyport: Sallyport,
  counter: Counter,
): Promise<Decision> {
  const userAgent = request.userAgent === '' ? undefined : request.userAgent
  // That there was no user agent is known, and judged; what other headers there were is not.
  const fields = userAgent === undefined ? [] : ['User-Agent', userAgent]
  // A line without a user agent says nothing of the other headers either.
  const asked = { fields, kept: ['user-agent'], target }
  const about = { fields, headersKnown: userAgent === undefined, method, target, at, asked }
  return countDescribed(counter, { userAgent }, await sallyport.check(address, about), status)
}

/** What a reader of the counts must know: lines that were left out, proxies, rules that are open, and what a log lacks. */
export function replayNotes({ requests, late, unread, proxied, unjudged }: Replayed): readonly string[] {
  const left = unread.lines === 0 ? [] : [describeUnread(unread)]
  const disorder = late === 0 ? [] : [lateNote(late)]
  const behind = proxied === undefined ? [] : [proxiedNote(proxied, requests)]
  return [...left, ...disorder, ...behind, ...unjudgedNotes(unjudged, requests, 'the log'), NO_HEADERS]
}

function none(): Actions {
  return { allow: 0, flag: 0, redirect: 0, challenge: 0, throttle: 0, block: 0 }
}
