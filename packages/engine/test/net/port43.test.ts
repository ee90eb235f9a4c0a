import type { Socket } from 'node:net'
import { createFakeDns } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createPort43 } from '../../src/net/index.ts'
import { openTcpServer } from './web-server.ts'

const LOOPBACK = { dns: createFakeDns({}), allowPrivate: ['127.0.0.1/32'] }

async function ask(
  t: Test,
  onConnection: (socket: Socket) => unknown,
  { question = 'example.com', timeoutMs = 5_000 } = {},
) {
  const port = await openTcpServer(t, onConnection)
  return createPort43(LOOPBACK).ask({ host: '127.0.0.1', port, question, timeoutMs })
}

t.test('the question is one line; the answer is all that comes until the end, in UTF-8 or Latin 1', async (t) => {
  const heard: string[] = []
  const answer = await ask(t, (socket) => {
    socket.on('data', (chunk) => {
      heard.push(String(chunk))
      socket.write('Domain Name: EXAMPLE.COM\r\n')
      setImmediate(() => socket.end('Registrar: Größe\r\n'))
    })
  })
  t.strictSame(answer, { state: 'answered', text: 'Domain Name: EXAMPLE.COM\r\nRegistrar: Größe\r\n' })
  t.strictSame(heard, ['example.com\r\n'])
  const bytes = (buffer: Buffer) => ask(t, (socket) => socket.end(buffer))
  t.strictSame(await bytes(Buffer.from('Núcleo', 'latin1')), { state: 'answered', text: 'Núcleo' })
  t.match(await bytes(Buffer.from([0xff, 0x00, 0xfe, 0x80])), { state: 'answered', text: 'ÿ\0þ\x80' })
  t.strictSame(await bytes(Buffer.alloc(0)), { state: 'answered', text: '' })
})

t.test('a question that is not one printable line is not put', async (t) => {
  let connections = 0
  for (const question of ['example.com\r\nexample.net', 'a\n', 'a\0', '', 'größe.de', 'a'.repeat(301)]) {
    const answer = await ask(t, () => connections++, { question })
    t.strictSame(answer, { state: 'failed', reason: 'not a question for port 43' })
  }
  t.equal(connections, 0)
})

t.test('a server that is silent, drips, never ends or is not there is a failure', async (t) => {
  const late = { timeoutMs: 200 }
  const reason = 'no result within 200 ms'
  t.strictSame(await ask(t, () => undefined, late), { state: 'failed', reason }, 'silent')
  let isOpen = true
  const dripping = (socket: Socket) => {
    const timer = setInterval(() => socket.write('x'), 5)
    socket.on('close', () => {
      clearInterval(timer)
      isOpen = false
    })
  }
  t.strictSame(await ask(t, dripping, late), { state: 'failed', reason }, 'dripping')
  while (isOpen) await new Promise((resolve) => setImmediate(resolve))
  const endless = (socket: Socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x')));
    }
    socket.on('drain', write)
    write()
  }
  t.match(await ask(t, endless), { state: 'failed', reason: /larger than 262144 bytes/ })
  t.match(await ask(t, (socket) => socket.resetAndDestroy()), { state: 'failed', reason: 'ECONNRESET' })
  const gone = { host: '127.0.0.1', port: 1, question: 'example.com', timeoutMs: 5_000 }
  t.strictSame(await createPort43(LOOPBACK).ask(gone), { state: 'failed', reason: 'ECONNREFUSED' })
})

t.test('the guard holds for WHOIS as for HTTP', async (t) => {
  let connections = 0
  const port = await openTcpServer(t, () => connections++)
  const port43 = createPort43({ dns: createFakeDns({}), allowPrivate: ['127.0.0.2/32'] })
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1', 'localhost', '169.254.169.254']) {
    const answer = await port43.ask({ host, port, question: 'example.com', timeoutMs: 5_000 })
    t.match(answer, { state: 'failed', reason: /not a public address|the name does not exist/ }, host)
  }
  t.equal(connections, 0)
})
