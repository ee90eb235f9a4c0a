import {
  type AccountEventName,
  type AccountFacts,
  type Action,
  type ChallengeTerms,
  type Clock,
  type Decision,
  type Dns,
  eventRisk,
  explainEvent,
  findField,
  foldSpelling,
  type InspectedEvent,
  type InspectionRequest,
  type JudgedLogin,
  judgeLogin,
  type MailFacts,
  type Observe,
  type ObservedRequest,
  parseMailAddress,
  type Reason,
  readRule,
  refuses,
  type Snapshot,
  type Snapshots,
  sightLogin,
} from '@sallyport/core'
import type { MailDomains } from '#datasets/service'
import type { Settings } from '#settings'
import { createBoundedStore } from './bounded-store.ts'
import type { EventRules } from './event-rules.ts'
import { findInspected } from './find-request.ts'
import { createNameHash, type HashName } from './hash-names.ts'
import { createMailReader } from './mail-facts.ts'
import { openUsers } from './open-users.ts'
import type { AccountEvent } from './read-event.ts'
import { createUsers } from './users.ts'

/** The answer about an event. Its reasons are for the operator, and never for the visitor. */
export interface Assessment {
  /** Of the request, or of the event where it has none. */
  readonly id: string
  /** 0 to 1. Actions do not rest on it. */
  readonly risk: number
  /** What the application should do: `allow` in monitor mode and for rules on trial. */
  readonly action: Action
  readonly rule: string
  readonly reasons: readonly Reason[]
  readonly mail: MailFacts
  readonly account: AccountFacts
  /** What could not be asked, as `accounts` for the memory of users. */
  readonly degraded: readonly string[]
  /** What a rule would have done in monitor mode, or on trial. */
  readonly trial?: { readonly rule: string; readonly action: Action } | undefined
  /** Terms of the challenge, where `action` is `challenge`. */
  readonly challenge?: ChallengeTerms | undefined
  /** Seconds until a limit has room. */
  readonly retryAfter?: number | undefined
}

/** Judges events of accounts. */
export interface AccountProtection {
  /**
   * Judges an event of the account of a visitor, whose request an adapter has inspected; without `outcome` it counts nothing, and with it
   * it records, and then decides. Rejects with `invalid_config` for a request that was not inspected, with `invalid_request` for
   * an event that is none, and with `service_unavailable` once the service is closed. A store that is away degrades the answer, and
   * refuses nobody.
   *
   * @example
   * ```ts
   * import { inspection, open } from '@sallyport/express'
   * import express from 'express'
   *
   * const sallyport = await open({ policy: { limits: ['account-guard'] } })
   * const app = express().use(inspection(sallyport))
   * app.post('/login', async (req, res) => {
   *   const event = { event: 'login', identifier: 'ada@shop.example', outcome: 'failure' } as const
   *   res.json(await sallyport.accounts.assess(req, event))   // { risk, action, reasons, … }
   * })
   * ```
   * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/logins.md
   */
  assess(request: object, event: AccountEvent): Promise<Assessment>
}

/** Judges events of visitors that another program describes. */
export interface Described {
  /** Takes the body of `POST /accounts/assess`. Rejects with `invalid_request`. */
  assessDescribed(body: unknown): Promise<Assessment>
}

/** Parts of a service that the protection of accounts uses. */
export interface ProtectionPorts {
  readonly clock: Clock
  readonly snapshots: Snapshots
  /** The inspection judges by the configuration in force. */
  readonly inspection: { readonly events: EventRules; decide(request: InspectionRequest): Decision }
  /** Lists of domains that give throwaway mail, read when they are first asked for. */
  readonly throwaway: () => MailDomains | undefined
  readonly dns: Dns
  readonly observe: Observe
  readonly onFault: (error: unknown) => void
}

/** Opens the stores of the protection of accounts, and judges events by them. */
export function openProtection(config: Settings, ports: ProtectionPorts) {
  const { clock, snapshots, inspection, observe, onFault } = ports
  const store = createBoundedStore(openUsers(config, clock.now), config.timeouts.counting, onFault)
  const hash = createNameHash(config)
  const users = createUsers(store)
  const mails = createMailReader({ ...ports, store, hash })

  async function judge({ inspection: asked }: Decision, fields: readonly string[], given: AccountEvent) {
    const at = clock.now()
    const names = readNames(given, hash)
    const snapshot = snapshots.current()
    const [sighting, kept, mail] = await Promise.all([
      sightLogin(asked, findField(fields, 'user-agent'), snapshot, at),
      users.read(names.memory),
      mails.read(names.mail, { at, isSignup: given.event === 'signup', asked: inspection.events.mailFacts }),
    ])
    // A memory that is away is no memory without logins.
    const judged: JudgedLogin | undefined = kept.isAway ? undefined : judgeLogin(kept.memory, sighting)
    const dated = { disposable: mail.source, places: judged?.travel && findPlacesSource(snapshot) }
    const { domain } = mail
    const event: InspectedEvent = Object.freeze({
      event: given.event,
      outcome: given.outcome,
      identifiers: names.counted,
      mailDomain: domain,
      mailStem: names.stem,
      mail: mail.facts,
      account: judged?.facts ?? {},
      reasons: explainEvent({ judged, mail: mail.facts, domain, ...dated }),
    })
    return { event, sighting, kept, mail }
  }

  return {
    async assess(request: object, given: AccountEvent): Promise<Assessment> {
      const { decision, fields } = findInspected(request)
      const { event, sighting, kept, mail } = await judge(decision, fields, given)
      const inspected = Object.freeze({ ...decision.inspection, event })
      const { decided, counted } = inspection.events.judge(inspected, fields, decision.id)
      const final = await counted.catch((error: unknown) => {
        onFault(error)
        return decided
      })
      // A right guess that is challenged makes nobody known.
      if (event.outcome === 'success' && !(final.enforced && refuses(final.action))) {
        if (LOGGED_IN.has(event.event)) await users.remember(kept, sighting)
        if (event.event === 'signup') await mails.remember(mail, sighting.at)
      }
      observe(observed(final, fields, sighting.at))
      return assessment(final, event, kept.isAway ? ['accounts'] : [])
    },
    close: store.close,
  }
}

/** Events after whose success the user is there. */
const LOGGED_IN: ReadonlySet<AccountEventName> = new Set(['signup', 'login', 'mfa'])

/** The names of an event. A user that is not known has a count too, so that an answer about one takes as long as about another. */
function readNames({ event, user, identifier = user ?? '', mail }: AccountEvent, hash: HashName) {
  const address = parseMailAddress(identifier)
  const folded = address?.mailbox ?? foldSpelling(identifier)
  const own = hash('identifier', folded)
  const known = user === undefined ? hash('user', `? ${folded}`) : hash('user', user)
  const spelled = () => {
    const spelling = foldSpelling(identifier)
    return spelling === folded ? own : hash('identifier', spelling)
  }
  const written = mail === undefined ? address : parseMailAddress(mail)
  return {
    counted: [own, known],
    memory: user === undefined ? spelled() : known,
    mail: written,
    stem: event === 'signup' && written?.stem ? hash('stem', written.stem) : undefined,
  }
}

function findPlacesSource({ sources }: Snapshot): Pick<Reason, 'source' | 'date'> | undefined {
  const city = sources.find(({ id, state }) => state === 'loaded' && id.startsWith('dbip-city'))
  return city && { source: city.id, ...(city.date !== undefined && { date: city.date }) }
}

/** The event as log, metrics and the console see it: a request was reported on its own. */
function observed(decision: Decision, fields: readonly string[], at: number): ObservedRequest {
  const { client, request, peer } = decision.inspection
  const { method, path } = request
  // Written out: spreading takes longer than the hash of a name.
  return {
    id: decision.id ?? '',
    peer,
    client: client.address,
    method,
    path,
    host: '',
    userAgent: findField(fields, 'user-agent') ?? '',
    decision,
    answeredBy: 'event',
    status: 0,
    at,
    milliseconds: 0,
  }
}

function assessment(decision: Decision, event: InspectedEvent, away: readonly string[]): Assessment {
  const { action, enforced, inspection, limits = [], id = '', challenge } = decision
  const [first, ...others] = decision.reasons
  const rule = readRule(decision)
  const reasons = Object.freeze([...(first === undefined ? [] : [first]), ...event.reasons, ...others])
  const trial = enforced ? decision.trial : { rule, action }
  const beyond = limits.find(({ exceeded, onTrial }) => exceeded && !onTrial)
  return {
    id,
    risk: eventRisk(event.reasons, action, inspection.network.verdict.anonymized),
    action: enforced ? action : 'allow',
    rule,
    reasons,
    mail: event.mail,
    account: event.account,
    degraded: [...inspection.degraded, ...away],
    ...(trial && { trial }),
    ...(enforced && challenge && { challenge }),
    ...(beyond && { retryAfter: Math.ceil(beyond.resetMs / 1_000) }),
  }
}
