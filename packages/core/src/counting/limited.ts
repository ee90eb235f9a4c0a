import type { CountingRule, LimitUse } from '../values/counting.ts'
import type { Decision, Trial } from '../values/decision.ts'
import type { Inspection } from '../values/inspection.ts'
import type { Writable } from '../values/members.ts'
import { isStricter } from '../vocabulary.ts'

/**
 * A decision with what was counted. The first rule beyond its limit decides in place of what was decided; one on trial
 * is named beside it where it is stricter. `counted`: the rule of each use. `local`: the shared counts did not answer, which
 * `degraded` says. Frozen.
 */
export function limited(
  decision: Decision,
  uses: readonly LimitUse[],
  counted: readonly { readonly rule: CountingRule }[],
  local: boolean,
): Decision {
  const { id, counting, mode, reasons, location, unjudged, attestation, restsOnPass } = decision
  const place = uses.findIndex(binds)
  const beyond = place === -1 ? undefined : counted[place]?.rule
  const action = beyond?.action ?? decision.action
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
  if (unjudged !== undefined) limited.unjudged = unjudged
  if (restsOnPass !== undefined) limited.restsOnPass = restsOnPass
  if (beyond !== undefined) limited.reasons = Object.freeze([beyond.reason, ...reasons.slice(1)])
  const challenge = beyond === undefined ? decision.challenge : beyond.challenge
  if (challenge !== undefined) limited.challenge = challenge
  const trials = [...(decision.trials ?? []), ...uses.filter(wouldBind).map(trialOf)]
  if (trials.length > 0) limited.trials = Object.freeze(trials)
  const trial = firstTrial(uses, decision.trial)
  if (trial !== undefined && isStricter(trial.action, action)) limited.trial = trial
  return Object.freeze(limited)
}

function binds({ exceeded, onTrial }: LimitUse): boolean {
  return exceeded && !onTrial
}

function wouldBind({ exceeded, onTrial }: LimitUse): boolean {
  return exceeded && onTrial
}

function trialOf({ rule, action }: LimitUse): Trial {
  return { rule, action }
}

function firstTrial(uses: readonly LimitUse[], trial: Trial | undefined): Trial | undefined {
  if (trial !== undefined) return trial
  const use = uses.find(wouldBind)
  return use && trialOf(use)
}

/** The inspection where the shared counts are missing. */
function withoutLimits(inspection: Inspection): Inspection {
  const { degraded } = inspection
  if (degraded.includes('limits')) return inspection
  return Object.freeze({ ...inspection, degraded: Object.freeze([...degraded, 'limits'] as const) })
}

/** The limit that leaves least room, of those that bind: exceeded ones first. */
export function tightest(limits: readonly LimitUse[]): LimitUse | undefined {
  let found: LimitUse | undefined
  for (const use of limits) {
    if (use.onTrial) continue
    if (found === undefined || roomOf(use) < roomOf(found)) found = use
  }
  return found
}

function roomOf({ exceeded, used, max }: LimitUse): number {
  return exceeded ? -1 : (max - used) / max
}
