import type { LimitUse } from '../values/counting.ts'
import type { Decision, Trial } from '../values/decision.ts'
import { type InspectionDegraded, isStricter } from '../vocabulary.ts'

/**
 * A decision with what was counted. The first rule beyond its limit decides in place of what was decided; one on trial
 * is named beside it where it is stricter. `local`: the shared counts did not answer, which `degraded` says. Frozen.
 */
export function limited(decision: Decision, uses: readonly LimitUse[], local: boolean): Decision {
  const { counting, reasons, trial, ...rest } = decision
  const inspection = local ? { ...rest.inspection, degraded: withLimits(rest.inspection.degraded) } : rest.inspection
  const beyond = uses.find(({ exceeded, onTrial }) => exceeded && !onTrial)
  const action = beyond?.action ?? rest.action
  const ruled = beyond && counting?.rules.find(({ rule }) => rule.id === beyond.rule)?.rule
  const named = firstTrial(uses, trial)
  return Object.freeze({
    ...rest,
    action,
    enforced: action === 'allow' || counting?.mode !== 'monitor',
    ...(named !== undefined && isStricter(named.action, action) ? { trial: Object.freeze(named) } : {}),
    reasons: ruled === undefined ? reasons : Object.freeze([ruled.reason, ...reasons.slice(1)]),
    inspection: local ? Object.freeze(inspection) : inspection,
    limits: Object.freeze([...uses]),
  })
}

function firstTrial(uses: readonly LimitUse[], trial: Trial | undefined): Trial | undefined {
  if (trial !== undefined) return trial
  const use = uses.find(({ exceeded, onTrial }) => exceeded && onTrial)
  return use && { rule: use.rule, action: use.action }
}

function withLimits(degraded: readonly InspectionDegraded[]): readonly InspectionDegraded[] {
  return degraded.includes('limits') ? degraded : Object.freeze([...degraded, 'limits'] as const)
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
