import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type SecureContextOptions, TLSSocket } from 'node:tls'
import type { Test } from 'tap'

/** A mail as a server took it. */
export interface Mail {
  readonly secured: boolean
  /** User and password, where they were sent. */
  readonly login: string | undefined
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

export interface SmtpServerOptions {
  /** Certificate and key; absent: no TLS is offered. */
  readonly tls?: SecureContextOptions | undefined
  /** TLS from the beginning, instead of STARTTLS. */
  readonly implicit?: boolean | undefined
  /** The answer to RCPT TO; default: 250. */
  readonly recipient?: string | undefined
}

/** A mail server on loopback (RFC 5321, 3207, 4954), as far as a client needs one that takes everything. */
export async function openSmtpServer(t: Test, { tls, implicit = false, recipient = '250 ok' }: SmtpServerOptions = {}) {
  const mails: Mail[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()

  function serve(socket: Socket, secured: boolean): void {
    let [buffer, from, to, login] = ['', '', [] as string[], undefined as string | undefined]
    let inData = false
    const say = (line: string): void => void socket.write(`${line}\r\n`)
    const answer = (line: string): void => {
      commands.push(line.split(' ')[0] ?? '')
      if (/^EHLO/i.test(line)) {
        const offers = [...(tls && !secured ? ['STARTTLS'] : []), 'AUTH PLAIN', 'SIZE 1000000']
        say(
          ['250-mail.example', ...offers.map((offer, at) => `250${at === offers.length - 1 ? ' ' : '-'}${offer}`)].join(
            '\r\n',
          ),
        )
      } else if (/^STARTTLS/i.test(line) && tls !== undefined) {
        say('220 go on')
        socket.removeAllListeners('data')
        serve(new TLSSocket(socket, { isServer: true, ...tls }), true)
      } else if (/^AUTH PLAIN /i.test(line)) {
        login = Buffer.from(line.slice('AUTH PLAIN '.length), 'base64').toString().split('\0').slice(1).join(':')
        say('235 ok')
      } else if (/^MAIL FROM:/i.test(line)) {
        ;[from, to] = [line.slice('MAIL FROM:'.length).split(' ')[0] ?? '', []]
        say('250 ok')
      } else if (/^RCPT TO:/i.test(line)) {
        to.push(line.slice('RCPT TO:'.length))
        say(recipient)
      } else if (/^DATA/i.test(line)) {
        inData = true
        say('354 go on')
      } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
      else say(/^(?:NOOP|RSET)/i.test(line) ? '250 ok' : '502 not here')
    }
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      buffer += chunk
      for (;;) {
        const end = inData ? '\r\n.\r\n' : '\r\n'
        const at = buffer.indexOf(end)
        if (at < 0) return
        const text = buffer.slice(0, at)
        buffer = buffer.slice(at + end.length)
        if (!inData) answer(text)
        else {
          inData = false
          mails.push({ secured, login, from, to, text })
          say('250 taken as 4711')
        }
      }
    })
    if (!secured || implicit) say('220 mail.example')
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (implicit) serve(new TLSSocket(socket, { isServer: true, ...tls }), true)
    else serve(socket, false)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: (server.address() as AddressInfo).port, mails, commands }
}
