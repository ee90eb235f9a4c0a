import { createHmac } from 'node:crypto'
import type { FetchRequest } from '@sallyport/core'
import { type Message, textOf, titleOf } from './message.ts'
import type { Target } from './target.ts'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 65_536

/** Longest text that Discord takes; ntfy takes 4,096 bytes. */
const MAX_CHARACTERS = 1_900

type Posted = Pick<FetchRequest, 'headers' | 'body'>

/** The request that sends a message to a webhook; `now` is in milliseconds since the epoch. */
export function hookRequest({ form, url, secret }: Target, message: Message, now: number): FetchRequest {
  const posted = FORMS_OF[form](message, secret, now)
  return { url: url.href, maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, ...posted }
}

const FORMS_OF: Readonly<
  Record<Target['form'], (message: Message, secret: string | undefined, now: number) => Posted>
> = {
  slack: (message) => json({ text: slackText(message) }),
  // No name or link of a text rings anybody.
  discord: (message) =>
    json({ content: `**${titleOf(message)}**\n${shortened(message)}`, allowed_mentions: { parse: [] } }),
  ntfy: (message, secret) => ({
    headers: {
      title: asciiOf(titleOf(message)),
      tags: message.over ? 'white_check_mark' : message.kind === 'test' ? 'bell' : 'warning',
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
    },
    body: { type: 'text/plain; charset=utf-8', text: shortened(message) },
  }),
  json: (message, secret, now) => {
    const { body } = json(bodyOf(message))
    return { body, headers: signatureOf(message.id, body.text, secret, now) }
  },
}

function json(value: object) {
  return { body: { type: 'application/json', text: JSON.stringify(value) } }
}

/** A notification as JSON; a member that is not known is left out. */
function bodyOf({ id, kind, about, over, text, details, at, host, leftOut }: Message): object {
  return { id, time: new Date(at).toISOString(), kind, about: about || undefined, over, text, leftOut, host, details }
}

/** Headers of Standard Webhooks 1.0.0: HMAC-SHA256 of `id.timestamp.body`; without a secret there is no signature. */
export function signatureOf(id: string, body: string, secret: string | undefined, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000))
  const named = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === undefined) return named
  const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...named, 'webhook-signature': `v1,${mac}` }
}

/** The key of a secret: the rest of one that begins with `whsec_` is base64, any other is taken as it is. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
}

/** In Slack's markup these three characters begin names, links and entities. */
function slackText(message: Message): string {
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `*${escaped(titleOf(message))}*\n${escaped(shortened(message))}`
}

function shortened(message: Message): string {
  const text = textOf(message)
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`
}

/** A field of HTTP holds no more. */
function asciiOf(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
