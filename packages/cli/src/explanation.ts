import type { Decision, Reason } from '@sallyport/core'
import { bold, columns, dim } from './terminal.ts'

/** A decision as text: the action, its rule, the agent with its reasons, and the network. */
export function explanation({ action, enforced, trial, reasons, inspection }: Decision): string {
  const { agent, network, client, request, country, degraded } = inspection
  const [rule] = reasons
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['request', `${request.method} ${request.path}${otherReadings(request)}`],
    ['because', rule?.text],
    ['on trial', trial && `${trial.action} by the rule "${trial.rule}"`],
    ['who', `${agent.class}, confidence ${agent.confidence}${agent.headless ? ', headless' : ''}`],
    ['known by', BASIS[agent.basis]],
    ['identity', agent.identity && `${agent.identity.name} (${agent.identity.verified ? 'verified' : 'only said'})`],
    ['AI', agent.ai && `${agent.ai.name} of ${agent.ai.vendor}`],
    ['headers', agent.headerConsistency === undefined ? 'not known' : `consistency ${agent.headerConsistency}`],
    ['from', [client.address, network.verdict.classification, network.asName, country].filter(isSaid).join(', ')],
    ['network', networkGrounds(reasons)],
    ['not known', degraded.join(', ')],
  ]
  const known = rows.flatMap(([name, text]) => (isSaid(text) ? [[dim(name), printable(text)] as const] : []))
  const head = `${bold(action)}${enforced ? '' : '  (recorded, not carried out)'}`
  return [head, columns(known), ...weighed(agent.reasons)].join('\n')
}

/** What else an origin may take the target for. */
function otherReadings({ path, readings }: Decision['inspection']['request']): string {
  if (readings === undefined) return ''
  const others = readings.filter((reading) => reading !== path)
  return others.length === 0 ? '  (or many others)' : `  (or ${others.join(', ')})`
}

/** The basis of the network verdict, with the source and its date. */
function networkGrounds(reasons: readonly Reason[]): string | undefined {
  const reason = reasons.find(({ id }) => id.startsWith('network:'))
  if (reason?.source === undefined) return reason?.text
  return `${reason.text}; ${sourceText(reason.source, reason.date)}`
}

/** A source with its date. */
export function sourceText(source: string, date: string | undefined): string {
  return date === undefined ? source : `${source} of ${date}`
}

/** Escapes control characters: a visitor's text must not control the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}

const BASIS: Readonly<Record<Decision['inspection']['agent']['basis'], string>> = {
  signature: 'its signature',
  crawler: 'the crawler that its user agent names',
  'ai-name': 'the AI that its user agent names',
  automation: 'what it says of itself',
  contradiction: 'headers that contradict each other',
  absence: 'headers that are missing',
  network: 'the network it comes from',
  none: 'nothing that speaks against a person',
}

/** The signals by weight, the heaviest first: `+` for automation, `-` for a person. */
function weighed(reasons: readonly Reason[]): readonly string[] {
  const sorted = reasons.toSorted((x, y) => Math.abs(y.weight ?? 99) - Math.abs(x.weight ?? 99))
  return sorted.map(({ weight, text }) => {
    const sign = weight === undefined ? '' : `${weight > 0 ? '+' : ''}${weight}`
    return `  ${sign.padStart(5)}  ${printable(text)}`
  })
}
