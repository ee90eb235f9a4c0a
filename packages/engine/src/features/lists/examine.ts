import { type Fetch, fetchText } from '@sallyport/core'
import { type CheckResult, failNow, type Outbound, ok } from '#service'
import type { CrowdsecConfig, ListConfigs } from './list-config.ts'

const ASK_MS = 5_000
const ASKED_BYTES = 2 ** 20
/** An address of documents (RFC 5737): nobody has decided anything about it. */
const NOBODY = '192.0.2.1'

/** Whether CrowdSec can be reached where it is a list; no decision is taken from its stream. */
export async function examineLists(
  { lists }: { readonly lists: ListConfigs },
  { feeds }: Outbound,
): Promise<readonly CheckResult[]> {
  return Promise.all(
    Object.entries(lists).flatMap(([name, list]) => ('crowdsec' in list ? [examineList(name, list, feeds)] : [])),
  )
}

async function examineList(name: string, { crowdsec, key }: CrowdsecConfig, feeds: Fetch): Promise<CheckResult> {
  const answer = await fetchText(feeds, {
    // The stream counts what was sent to a key, and is left alone.
    url: `${crowdsec.replace(/\/$/, '')}/v1/decisions?ip=${NOBODY}`,
    headers: { 'x-api-key': key },
    maxBytes: ASKED_BYTES,
    timeoutMs: ASK_MS,
  })
  const { host } = new URL(crowdsec)
  if (answer.state === 'answered' && answer.status === 200)
    return ok(`CrowdSec at ${host} accepts the key of the list ${name}.`)
  const reason = answer.state === 'failed' ? answer.reason : `it responds to the key with ${answer.status}`
  return failNow(
    `CrowdSec at ${host} cannot be used: ${reason}.`,
    'Compare the key with cscli bouncers list. A private address needs net.allowPrivate.',
    ['lists', name],
  )
}
