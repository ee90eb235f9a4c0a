import {
  type ChallengeStep,
  classifyVisitor,
  type Decision,
  earnedPass,
  failedPass,
  HOUR_MS,
  type ObservedRequest,
  readRule,
  VISITORS,
} from '@sallyport/core'
import { refuses } from '@sallyport/core/host'
import { type Cell, type Effect, Slot } from './cells.ts'
import type { PlaceOfClient } from './clients.ts'
import { identifyCrawler } from './identify-crawler.ts'
import { isPagePath, pathPattern } from './path-pattern.ts'
import type { Challenged } from './sums.ts'

/** The row in which a service counts a request: its number, and outcome, enforced, class, network class and rule. */
export interface CountedRow {
  readonly at: number
  readonly labels: readonly string[]
}

/** Reports whether robots.txt refuses a path to a user agent; `undefined` when none was read. */
export type AskRobots = (userAgent: string, path: string, host: string) => boolean | undefined

export interface TallyOptions {
  readonly findPlace: PlaceOfClient
  readonly robots: AskRobots
}

/** Slots that are kept while they cannot be written. */
const MAX_SLOTS = 48

const EFFECTS: readonly Effect[] = ['', 'stopped', 'would']
/** The place of a visitor after the places of `VISITORS`, where nothing was decided. */
const NOBODY = VISITORS.length
/** The label of a challenge that could not be shown. */
export const UNSHOWN = 'unshown'
const NONE = 0
const STOPPED = 1
const WOULD = 2

const ANSWERERS = ['origin', 'host', 'api', 'refusal'] as const

/** Counts requests by the hour until they are written; `policy` is the fingerprint of the configuration. */
export function createTally(policy: string, { findPlace, robots }: TallyOptions) {
  let current = policy
  let slot: Slot | undefined
  let slots: Slot[] = []

  function findSlot(at: number): Slot {
    const hour = Math.floor(at / HOUR_MS)
    if (slot !== undefined && slot.hour === hour && slot.policy === current) return slot
    const found = slots.find((one) => one.hour === hour && one.policy === current)
    if (found === undefined) slots = [...slots.slice(1 - MAX_SLOTS), new Slot(hour, current)]
    slot = found ?? (slots.at(-1) as Slot)
    return slot
  }

  return {
    /** Counts requests from now on under another configuration. */
    turn(next: string): void {
      current = next
    },
    /** Lists the slots that hold something, the oldest first. */
    get slots(): readonly Slot[] {
      return slots
    },
    /** Drops slots that are written and over. */
    forget(now: number): void {
      const hour = Math.floor(now / HOUR_MS)
      slots = slots.filter((one) => (one.hour >= hour && one.policy === current) || one.cells.some((c) => !c.isWritten))
      if (slot !== undefined && !slots.includes(slot)) slot = undefined
    },
    /** Counts a request in its row, or an event of an account, which has none. */
    observe(observed: ObservedRequest, row: CountedRow | undefined): void {
      const { decision, status, answeredBy, bytesSent: bytes = 0 } = observed
      // A balancer's probe of the service is no traffic of the site.
      if (decision?.inspection.client.isProxy) return
      const into = findSlot(observed.at)
      if (row === undefined) {
        countEvent(into, decision)
        return
      }
      const who = decision === undefined ? NOBODY : VISITORS.indexOf(readVisitor(observed, decision))
      const isUnshown = observed.challenge?.outcome === 'program'
      const place = (row.at * (VISITORS.length + 1) + who) * 2 + (isUnshown ? 1 : 0)
      let decided = into.decided[place]
      if (decided === undefined) {
        decided = into.of('decided', [...row.labels, VISITORS[who] ?? '', isUnshown ? UNSHOWN : ''])
        into.decided[place] = decided
      }
      decided.add(bytes, 0)
      const key = status * ANSWERERS.length + ANSWERERS.indexOf(answeredBy as 'origin')
      const isAsked = answeredBy === 'refusal' && decision?.action === 'challenge' && !isUnshown
      const answer =
        into.answers.get(isAsked ? -1 : key) ??
        into.answers.keep(isAsked ? -1 : key, into.of('answer', [isAsked ? 'challenge' : String(status), answeredBy]))
      answer.add(bytes, 0)
      if (decision === undefined) return
      const client = findPlace(observed.client, observed.at)
      const visitor = VISITORS[who] as string
      decided.note(client)
      countPlaces(into, observed, decision)
      if (observed.challenge !== undefined) countChallenge(into, observed.challenge)
      const { payment } = observed
      if (payment !== undefined) into.of('payment', [payment.rule, payment.outcome]).add(bytes, 0)
      if (decision.trials !== undefined) countTrials(into, decision, visitor, client)
      countCrawler(into, observed, decision, robots)
      if (observed.cameFrom !== undefined && visitor !== 'program' && isPageRead(observed))
        into.of('referral', [observed.cameFrom, pathPattern(observed.path), visitor]).add(bytes, 1)
    },
  }
}

/** Counts an event of an account, and why it was not simply allowed. */
function countEvent(into: Slot, decision: Decision | undefined): void {
  const { event, outcome = '', reasons = [] } = decision?.inspection.event ?? {}
  if (decision === undefined || event === undefined) return
  const { action, trial } = decision
  into.of('event', [event, outcome, action, EFFECTS[readEffect(decision)] as Effect]).add(0, 0)
  if (action === 'allow' && trial === undefined) return
  const rule = `policy:${action === 'allow' ? trial?.rule : readRule(decision)}`
  for (const id of [rule, ...reasons.map(({ id }) => id)]) into.of('eventReason', [id]).add(0, 0)
}

/** The visitor of a request; a solution that earns a pass is a person's. */
function readVisitor({ challenge }: ObservedRequest, { inspection: { agent, network, pass } }: Decision) {
  return classifyVisitor({
    class: agent.class,
    networkClass: network.verdict.classification,
    botProbability: agent.botProbability,
    hasPass: pass !== undefined || (challenge !== undefined && earnedPass(challenge.outcome)),
  })
}

/** Counts the country and the network that a request came from, and the path that it asked for. */
function countPlaces(into: Slot, { path, bytesSent: bytes = 0 }: ObservedRequest, decision: Decision): void {
  const { country, network } = decision.inspection
  if (country !== undefined)
    (into.countries.get(country) ?? into.countries.keep(country, into.of('country', [country]))).add(bytes, 0)
  const { asn, asName = '' } = network
  const effect = readEffect(decision)
  if (asn !== undefined) {
    const key = asn * EFFECTS.length + effect
    const system =
      into.systems.get(key) ??
      into.systems.keep(key, into.of('system', [`AS${asn} ${asName}`.trim(), EFFECTS[effect] as Effect]))
    system.add(bytes, 0)
  }
  findPathCell(into, path, effect).add(bytes, 0)
}

/** Counts what a request is in a challenge; a wait that earned no pass is followed by another challenge in the same request. */
function countChallenge(into: Slot, { outcome, refused, rule = '', level }: ChallengeStep): void {
  for (const step of [findStep(outcome), findStep(refused)])
    if (step !== undefined) into.of('challenge', [rule, String(level ?? ''), step]).add(0, 0)
}

function findStep(outcome: ChallengeStep['outcome'] | undefined): keyof Challenged | undefined {
  if (outcome === undefined || outcome === 'asked') return outcome
  if (outcome === 'program') return UNSHOWN
  if (earnedPass(outcome)) return 'solved'
  return failedPass(outcome) ? 'failed' : undefined
}

/** Longest path whose cell is remembered, in characters. */
const LONGEST_PATH = 256

function findPathCell(into: Slot, path: string, effect: 0 | 1 | 2): Cell {
  const paths = into.paths[effect]
  const known = paths.get(path)
  if (known !== undefined) return known
  const cell = into.of('path', [pathPattern(path), EFFECTS[effect] as Effect])
  // A copy: the path is a piece of its target, and would keep the whole of it.
  return path.length > LONGEST_PATH ? cell : paths.keep(Buffer.from(path).toString(), cell)
}

/** Counts all rules on trial, and which of them alone would have stopped the request. */
function countTrials(into: Slot, one: Decision, visitor: string, client: number): void {
  const { action: decided, trial, trials = [], inspection } = one
  for (const { rule, action } of trials) {
    const isAlone = !refuses(decided) && rule === trial?.rule && refuses(action)
    const cell = into.of('trial', [rule, action, inspection.agent.class, isAlone ? 'alone' : '', visitor])
    cell.add(0, 0)
    cell.note(client)
  }
}

/** Counts what a crawler, or an agent that signs, asked for, and whether it kept to the rules of the site. */
function countCrawler(into: Slot, observed: ObservedRequest, decision: Decision, robots: AskRobots): void {
  const crawler = identifyCrawler(decision)
  if (crawler === undefined) return
  const { operator, claim, purpose, name } = crawler
  const { path, host, userAgent = '', bytesSent: bytes = 0 } = observed
  const refused = robots(userAgent, path, host)
  const kept = refused === undefined ? 'unread' : refused ? 'disallowed' : 'allowed'
  const limit = decision.limits?.some(({ exceeded }) => exceeded) ? 'beyond' : ''
  const effect = EFFECTS[readEffect(decision)] as Effect
  const pages = isPageRead(observed) ? 1 : 0
  into.of('crawler', [operator, claim, purpose, name, kept, limit, effect]).add(bytes, pages)
  into.of('read', [operator, claim, pathPattern(path), kept]).add(bytes, pages)
}

function readEffect({ action, enforced, trial }: Decision): 0 | 1 | 2 {
  if (refuses(action)) return enforced ? STOPPED : WOULD
  return trial !== undefined && refuses(trial.action) ? WOULD : NONE
}

/** Reports whether the origin or the host answered a page. */
export function isPageRead({ method, status, answeredBy, path }: ObservedRequest): boolean {
  const isAnswered = (status >= 200 && status < 300) || status === 304
  return method === 'GET' && isAnswered && (answeredBy === 'origin' || answeredBy === 'host') && isPagePath(path)
}
