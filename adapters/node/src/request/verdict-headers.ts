import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Decision } from '@sallyport/core'

/** Names with this prefix belong to us: whatever a client sends under them is removed. */
export const VERDICT_PREFIX = 'sallyport-'

const REQUEST_ID = 'sallyport-request-id'
const ACTION = 'sallyport-action'
const BOT_PROBABILITY = 'sallyport-bot-probability'
const NETWORK_CLASS = 'sallyport-network-class'
const ASN = 'sallyport-asn'
const COUNTRY = 'sallyport-country'
const REGION = 'sallyport-region'
const ENFORCED = 'sallyport-enforced'
const TRIAL = 'sallyport-trial'
const PASS = 'sallyport-pass'
const ATTESTATION_ID = 'sallyport-attestation-id'

const NAMES = [
  REQUEST_ID,
  ACTION,
  NETWORK_CLASS,
  BOT_PROBABILITY,
  ASN,
  COUNTRY,
  REGION,
  ENFORCED,
  TRIAL,
  PASS,
  ATTESTATION_ID,
] as const

/** The names that we write, and the name of the signature over them; a server in front replaces or removes all of them. */
export const VERDICT_NAMES: readonly string[] = [...NAMES, 'sallyport-signature']

/**
 * Adds the verdict for the site's own code. The region follows where a rule reads regions. Each name is written out: a variable name takes
 * several times as long, and turns an object of more than 16 members into a dictionary.
 */
export function addVerdict(decision: Decision, fields: string[], headers: IncomingHttpHeaders = {}): void {
  const { id, action, enforced, trial, attestation, inspection } = decision
  const { network, country, region, agent } = inspection
  const botProbability = String(agent.botProbability)
  const networkClass = network.verdict.classification
  headers['sallyport-action'] = action
  headers['sallyport-network-class'] = networkClass
  headers['sallyport-bot-probability'] = botProbability
  fields.push(ACTION, action, NETWORK_CLASS, networkClass, BOT_PROBABILITY, botProbability)
  if (id !== undefined) {
    headers['sallyport-request-id'] = id
    fields.push(REQUEST_ID, id)
  }
  if (network.asn !== undefined) {
    const asn = `AS${network.asn}`
    headers['sallyport-asn'] = asn
    fields.push(ASN, asn)
  }
  if (country !== undefined) {
    headers['sallyport-country'] = country
    fields.push(COUNTRY, country)
  }
  if (region !== undefined) {
    const code = region.code ?? 'unknown'
    headers['sallyport-region'] = code
    fields.push(REGION, code)
  }
  if (!enforced) {
    headers['sallyport-enforced'] = 'false'
    fields.push(ENFORCED, 'false')
  }
  if (trial !== undefined) {
    headers['sallyport-trial'] = trial.action
    fields.push(TRIAL, trial.action)
  }
  if (inspection.pass !== undefined) {
    const level = String(inspection.pass.level)
    headers['sallyport-pass'] = level
    fields.push(PASS, level)
  }
  if (attestation !== undefined) {
    const id = String(attestation.id)
    headers['sallyport-attestation-id'] = id
    fields.push(ATTESTATION_ID, id)
  }
}

/**
 * Returns the verdict as headers of an answer, for a server that copies them into the request it forwards. Every name is present, if only
 * with an empty value, so that no value of the client remains.
 */
export function verdictFields(decision: Decision): Readonly<Record<string, string>> {
  const headers: IncomingHttpHeaders = {}
  addVerdict(decision, [], headers)
  return Object.fromEntries(NAMES.map((name) => [name, String(headers[name] ?? '')]))
}

/** Returns the fields (name, value, name, value …) without any spelling of our names, followed by the verdict of a decision. */
export function withVerdict(fields: readonly string[], decision: Decision | undefined): string[] {
  const kept = dropVerdict(fields)
  if (decision !== undefined) addVerdict(decision, kept)
  return kept
}

/**
 * Writes the verdict into a request, for the host's own code to read: removes every inbound spelling of our names, then sets ours in
 * `headers` and `rawHeaders`. Without a decision it sets nothing. It changes both in place, because the host may hold them already.
 */
export function applyVerdict(req: IncomingMessage, decision: Decision | undefined): void {
  // Node builds both objects from rawHeaders at the first access, and relies on its length. So both are read before the list changes.
  const { headers: shown, rawHeaders: received } = req
  if (firstReserved(received) < received.length) {
    deleteReserved(shown)
    deleteReserved(req.headersDistinct)
    received.splice(0, received.length, ...dropVerdict(received))
  }
  if (decision !== undefined) addVerdict(decision, received, shown)
}

/** Returns the index of the first of our names, or the length of the list where there is none, as in nearly all requests. */
function firstReserved(fields: readonly string[]): number {
  let at = 0
  while (at < fields.length && !isReserved(fields[at] as string)) at += 2
  return at
}

/** Copies fields without any spelling of our names. */
function dropVerdict(fields: readonly string[]): string[] {
  const first = firstReserved(fields)
  const kept = fields.slice(0, first)
  for (let at = first; at + 1 < fields.length; at += 2) {
    const name = fields[at] as string
    if (!isReserved(name)) kept.push(name, fields[at + 1] as string)
  }
  return kept
}

function deleteReserved(headers: NodeJS.Dict<unknown> | undefined): void {
  for (const name in headers) if (isReserved(name)) delete headers[name]
}

/**
 * Reports whether a field is ours alone, in any spelling, or is `Proxy`: CGI makes a variable of it that programs take for their own proxy.
 */
export function isReserved(name: string): boolean {
  const { length } = name
  if (length === PROXY.length) return name.toLowerCase() === PROXY
  // Length and second letter exclude nearly every name, and the first letter excludes most of the rest.
  if (length < VERDICT_PREFIX.length || (name.charCodeAt(1) | 0x20) !== 0x61) return false
  return (name.charCodeAt(0) | 0x20) === 0x73 && foldedName(name).startsWith(VERDICT_PREFIX)
}

const PROXY = 'proxy'

/**
 * Folds a field name as servers that make variables of fields read it (RFC 3875 4.1.18): one case, and one character for all but letters
 * and digits. lighttpd reads `X!Forwarded!For` as HTTP_X_FORWARDED_FOR, and the later field wins.
 */
export function foldedName(name: string): string {
  const lower = name.toLowerCase()
  return PLAIN.test(lower) ? lower : lower.replace(/[^a-z0-9]/g, '-')
}

const PLAIN = /^[a-z0-9-]*$/
