import type { Decision, UsageTable } from '@sallyport/core'
import type { ReceivedHead } from '../request/node-head.ts'

const NONE: Readonly<Record<string, string>> = Object.freeze({})

/** Fields about the use of what a request reads, where the site has none of its own: it knows better. */
export function usageFields(
  usage: Pick<UsageTable, 'fieldsOf'> | undefined,
  { method }: Pick<ReceivedHead, 'method'>,
  { inspection }: Decision,
): Readonly<Record<string, string>> {
  if (usage === undefined || (method !== 'GET' && method !== 'HEAD')) return NONE
  return usage.fieldsOf(inspection.request.path)
}
