import { type CompiledPolicy, type Counter, decide, eventPolicy, type Inspection, type Mode } from '@sallyport/core'

/** Rules about events, as they are compiled. */
export type EventRules = ReturnType<typeof createEventRules>

/** Creates the judge of events of some rules. An event bans nobody, so that its counter knows no strikes. */
export function createEventRules(rules: { readonly policy: CompiledPolicy; readonly mode: Mode }, counter: Counter) {
  const { policy, mode } = rules
  const events = eventPolicy(policy)
  return {
    /** Facts about mail that the rules ask for. */
    mailFacts: policy.mailFacts,
    /** Judges an event, and counts it. */
    judge(inspection: Inspection, fields: readonly string[], id?: string) {
      const decided = decide(events, inspection, { mode, request: { fields }, id })
      return { decided, counted: Promise.resolve(counter.count(decided, fields)).then(({ decision }) => decision) }
    },
  }
}
