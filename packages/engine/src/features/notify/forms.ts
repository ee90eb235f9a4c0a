import { createHmac } from 'node:crypto'
import type { FetchRequest } from '@sallyport/core'
import { type Message, writeText, writeTitle } from './message.ts'
import type { Target } from './target.ts'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 65_536

/** Discord accepts a text of this length; ntfy accepts 4,096 bytes. */
const MAX_CHARACTERS = 1_900

type Posted = Pick<FetchRequest, 'headers' | 'body'>

/** Makes the request that sends a message to a webhook; `now` is in milliseconds since the epoch. */
export function hookRequest({ form, url, secret }: Target, message: Message, now: number): FetchRequest {
  const posted = FORMS_OF[form](message, secret, now)
  return { url: url.href, maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, ...posted }
}

const FORMS_OF: Readonly<
  Record<Target['form'], (message: Message, secret: string | undefined, now: number) => Posted>
> = {
  slack: (message) => json({ text: slackText(message) }),
  // Without this Discord would notify users and groups that a text names.
  discord: (message) =>
    json({ content: `**${writeTitle(message)}**\n${shortened(message)}`, allowed_mentions: { parse: [] } }),
  ntfy: (message, secret) => ({
    headers: {
      title: toAscii(writeTitle(message)),
      tags: message.over ? 'white_check_mark' : message.kind === 'test' ? 'bell' : 'warning',
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
    },
    body: { type: 'text/plain; charset=utf-8', text: shortened(message) },
  }),
  json: (message, secret, now) => {
    const { body } = json(buildBody(message))
    return { body, headers: signBody(message.id, body.text, secret, now) }
  },
}

function json(value: object) {
  return { body: { type: 'application/json', text: JSON.stringify(value) } }
}

function buildBody({ id, kind, about, over, text, details, at, host, leftOut }: Message): object {
  return { id, time: new Date(at).toISOString(), kind, about: about || undefined, over, text, leftOut, host, details }
}

/** Makes the headers of Standard Webhooks 1.0.0: HMAC-SHA256 of `id.timestamp.body`; without a secret there is no signature. */
export function signBody(id: string, body: string, secret: string | undefined, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000))
  const named = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === undefined) return named
  const mac = createHmac('sha256', decodeKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...named, 'webhook-signature': `v1,${mac}` }
}

/** Decodes the key of a secret: after `whsec_` it is base64, any other secret is used as it is. */
function decodeKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
}

/** Escapes three characters that begin names, links and entities in Slack's markup. */
function slackText(message: Message): string {
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `*${escaped(writeTitle(message))}*\n${escaped(shortened(message))}`
}

function shortened(message: Message): string {
  const text = writeText(message)
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`
}

function toAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
