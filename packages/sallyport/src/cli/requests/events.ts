import { type Decision, foldIdentifier, type InspectedEvent, parseEventFacts, parseMailAddress } from '@sallyport/core'
import type { createTrialCounter, PolicyTest } from '@sallyport/engine'

/** Describes an event as rules read it. Its facts name what a memory of users and lists would know. */
export function describeEvent({
  user,
  identifier = user ?? '',
  mail,
  facts,
  ...event
}: NonNullable<PolicyTest['event']>): InspectedEvent {
  const address = parseMailAddress(mail ?? identifier)
  const given = parseEventFacts(facts)
  const folded = foldIdentifier(identifier)
  return {
    ...event,
    identifiers: [folded, user ?? `? ${folded}`],
    ...(address && { mailDomain: address.domain, mailStem: address.stem }),
    mail: { ...(address && { alias: address.isAlias }), ...given.mail },
    account: given.account,
    reasons: [],
  }
}

/** Judges an event of the sender of a decided request, and counts it where it has an outcome. */
export async function judgeEvent(
  counter: Pick<ReturnType<typeof createTrialCounter>, 'events'>,
  { inspection, id }: Decision,
  event: InspectedEvent,
  fields: readonly string[],
): Promise<Decision> {
  return counter.events.judge({ ...inspection, event }, fields, id).counted
}
