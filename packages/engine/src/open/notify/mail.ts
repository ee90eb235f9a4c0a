import { isIP } from 'node:net'
import type { Connect } from '#net'
import { loadInstalled } from '#stores'
import { type Message, textOf, titleOf } from './message.ts'
import { addressesOf, portOf, type Target } from './target.ts'

const CONNECT_MS = 10_000
/** Silence of a server. */
const SILENT_MS = 10_000
/** For all of one mail. */
const MAIL_MS = 30_000

/** Sends one mail; resolves with the server's answer, and rejects with the reason. */
export type Mailer = (target: Target, message: Message) => Promise<string>

export interface MailPorts {
  readonly connect: Connect
  /** Certificate authorities instead of those that Node knows, PEM. */
  readonly ca?: string | undefined
}

/**
 * SMTP over connections that the guard permits. `smtps:` is TLS from the beginning; `smtp:` asks for STARTTLS, and without it sends
 * nothing but to addresses of `net.allowPrivate`. Rejects with `package_missing` where nodemailer is not installed.
 */
export async function loadMailer({ connect, ca }: MailPorts): Promise<Mailer> {
  const { createTransport } = await loadInstalled('nodemailer', () => import('nodemailer'))
  return async ({ url }, message) => {
    const secure = url.protocol === 'smtps:'
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const { socket, allowed } = await connect(host, portOf(url), CONNECT_MS)
    const late = setTimeout(() => socket.destroy(new Error(`not over within ${MAIL_MS} ms`)), MAIL_MS)
    const transport = createTransport({
      host,
      secure,
      connection: socket,
      requireTLS: !secure && !allowed,
      opportunisticTLS: !secure && allowed,
      greetingTimeout: SILENT_MS,
      socketTimeout: SILENT_MS,
      tls: { ...(isIP(host) === 0 && { servername: host }), ...(ca !== undefined && { ca }) },
      ...authOf(url),
      // No file and no URL that a text may name is read.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    try {
      const sent = await transport.sendMail(mailOf(url, message))
      return sent.response
    } catch (error) {
      throw new Error(reasonOf(error, url))
    } finally {
      clearTimeout(late)
      transport.close()
      socket.destroy()
    }
  }
}

function authOf({ username, password }: URL) {
  if (username === '') return {}
  return { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }
}

function mailOf({ searchParams }: URL, message: Message) {
  const from = addressesOf(searchParams, 'from')
  return {
    from: from[0],
    to: [...addressesOf(searchParams, 'to')],
    subject: titleOf(message),
    text: `${textOf(message)}\n\n${new Date(message.at).toISOString()} on ${message.host}\n`,
    messageId: `<${message.id}@${(from[0] ?? '').split('@')[1]}>`,
    date: new Date(message.at),
    // No holiday answers itself (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

/** Servers repeat in their answers what they were sent. */
function reasonOf(error: unknown, { username, password }: URL): string {
  const text = error instanceof Error ? error.message : String(error)
  const secrets = [password, decodeURIComponent(password), username].filter((part) => part !== '')
  return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text).split(/\r?\n/, 1)[0] ?? ''
}
