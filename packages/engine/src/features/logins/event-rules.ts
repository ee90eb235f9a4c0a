import {
  type CompiledPolicy,
  type Counter,
  type Decision,
  decide,
  eventPolicy,
  type Inspection,
  type Mode,
} from '@sallyport/core'

/** Rules about events, as they are compiled. */
export interface EventRules {
  /** Facts about mail that the rules ask for. */
  readonly mailFacts: ReadonlySet<string>
  /** Judges an event, and counts it. */
  judge(
    inspection: Inspection,
    fields: readonly string[],
    id?: string,
  ): { readonly decided: Decision; readonly counted: Promise<Decision> }
}

/** Creates the judge of events of some rules. An event bans nobody, so that its counter knows no strikes. */
export function createEventRules(
  { policy, mode }: { readonly policy: CompiledPolicy; readonly mode: Mode },
  counter: Counter,
): EventRules {
  const events = eventPolicy(policy)
  return {
    mailFacts: policy.mailFacts,
    judge(inspection, fields, id) {
      const decided = decide(events, inspection, { mode, request: { fields }, id })
      return { decided, counted: Promise.resolve(counter.count(decided, fields)).then(({ decision }) => decision) }
    },
  }
}
