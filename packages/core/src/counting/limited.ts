import { HOUR_MS } from '../duration.ts'
import type { ChallengeTerms } from '../values/challenge.ts'
import type { CountingRule, LimitUse } from '../values/counting.ts'
import type { Decision, Trial } from '../values/decision.ts'
import type { Inspection } from '../values/inspection.ts'
import type { Writable } from '../values/members.ts'
import { isStricter, refuses } from '../vocabulary.ts'
import { countsGroups } from './keys.ts'

/**
 * Applies counts to a decision. The first exceeded rule replaces the decision; a rule on trial is named beside it where it is stricter.
 * `counted` has the rule of each use. `local`: the shared counts did not answer, which `degraded` reports. The result is frozen.
 */
export function limited(
  decision: Decision,
  uses: readonly LimitUse[],
  counted: readonly { readonly rule: CountingRule }[],
  local: boolean,
): Decision {
  const { id, counting, mode, reasons, location, status, unjudged, attestation, restsOnPass } = decision
  const place = uses.findIndex(binds)
  const beyond = place === -1 ? undefined : counted[place]?.rule
  const isEased = beyond !== undefined && challengesGroup(beyond, decision.inspection)
  const action = isEased ? 'challenge' : (beyond?.action ?? decision.action)
  const limited: Writable<Decision> = {
    action,
    enforced: beyond === undefined ? decision.enforced : action === 'allow' || counting?.mode !== 'monitor',
    reasons,
    inspection: local ? withoutLimits(decision.inspection) : decision.inspection,
    limits: uses,
  }
  if (id !== undefined) limited.id = id
  if (mode !== undefined) limited.mode = mode
  if (attestation !== undefined) limited.attestation = attestation
  if (location !== undefined && beyond === undefined) limited.location = location
  if (status !== undefined && beyond === undefined) limited.status = status
  if (unjudged !== undefined) limited.unjudged = unjudged
  if (restsOnPass !== undefined) limited.restsOnPass = restsOnPass
  if (beyond !== undefined) limited.reasons = Object.freeze([beyond.reason, ...reasons.slice(1)])
  const terms = beyond === undefined ? decision.challenge : beyond.challenge
  const challenge = isEased ? GROUP_CHALLENGE : terms
  if (challenge !== undefined) limited.challenge = challenge
  const offer = beyond === undefined ? decision.offer : beyond.offer
  if (offer !== undefined && action === 'offer') limited.offer = offer
  const own = uses.filter(wouldBind).map(describeTrial)
  const trials = [...(decision.trials ?? []), ...own]
  if (trials.length > 0) limited.trials = Object.freeze(trials)
  const trial = decision.trial ?? own[0]
  if (trial !== undefined && isStricter(trial.action, action)) limited.trial = trial
  return Object.freeze(limited)
}

/** Reports whether a group's limit challenges in place of a refusal, because a visitor of the group held a pass: a person may be in it. */
function challengesGroup(rule: CountingRule, { behaviour }: Inspection): boolean {
  return behaviour?.isMixed === true && refuses(rule.action) && countsGroups(rule)
}

const GROUP_CHALLENGE: ChallengeTerms = Object.freeze({ level: 2, passMs: 12 * HOUR_MS, script: false })

function binds({ exceeded, onTrial }: LimitUse): boolean {
  return exceeded && !onTrial
}

function wouldBind({ exceeded, onTrial }: LimitUse): boolean {
  return exceeded && onTrial
}

function describeTrial({ rule, action }: LimitUse): Trial {
  return { rule, action }
}

/** Marks the inspection where the shared counts are missing. */
function withoutLimits(inspection: Inspection): Inspection {
  const { degraded } = inspection
  if (degraded.includes('limits')) return inspection
  return Object.freeze({ ...inspection, degraded: Object.freeze([...degraded, 'limits'] as const) })
}

/** Returns the binding limit with the least room: exceeded ones first. */
export function tightest(limits: readonly LimitUse[]): LimitUse | undefined {
  let found: LimitUse | undefined
  for (const use of limits) {
    if (use.onTrial) continue
    if (found === undefined || leftRoom(use) < leftRoom(found)) found = use
  }
  return found
}

function leftRoom({ exceeded, used, max }: LimitUse): number {
  return exceeded ? -1 : (max - used) / max
}
