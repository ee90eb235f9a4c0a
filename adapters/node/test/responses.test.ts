import type { ApiResponse } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { sendResponse } from '../src/answer/send-response.ts'
import { dial, serve } from './support.ts'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

async function sent(t: Test, response: ApiResponse, method = 'GET'): Promise<string> {
  const port = await serve(t, (_req, res) => {
    res.sendDate = false
    void sendResponse(res, response)
  })
  return dial(t, port, GET.replace('GET', method)).closed
}

async function* parts(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}

t.test('a string goes with its length in bytes', async (t) => {
  const response = { status: 418, headers: { 'x-a': 'b' }, body: 'ü' }
  t.match(await sent(t, response), /^HTTP\/1\.1 418 .*\r\nx-a: b\r\ncontent-length: 2\r\nConnection: close\r\n\r\nÃ¼$/)
})

t.test('a stream goes in chunks, HEAD gets the headers alone, and 204 has no length', async (t) => {
  const text = await sent(t, { status: 200, headers: {}, body: parts('one', 'two') })
  t.ok(text.endsWith('\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n'), text)
  t.match(await sent(t, { status: 200, headers: {}, body: 'four' }, 'HEAD'), /content-length: 4\r\n.*\r\n\r\n$/s)
  t.match(await sent(t, { status: 200, headers: {}, body: parts('x') }, 'HEAD'), /^HTTP\/1\.1 200 .*\r\n\r\n$/s)
  t.notMatch(await sent(t, { status: 204, headers: {}, body: '' }), /content-length/)
})

t.test('a stream that fails cuts the connection, and an answer that Node does not take', async (t) => {
  async function* failing(): AsyncGenerator<string> {
    yield 'one'
    throw new Error('a fault')
  }
  const text = await sent(t, { status: 200, headers: {}, body: failing() })
  t.notMatch(text, /0\r\n\r\n$/, 'the client can tell that it is not whole')
  const bad = { status: 200, headers: { 'x-a': 'a\nb' }, body: 'ok' }
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
  t.equal(await sent(t, bad), '')
  t.match(await warned, { name: 'SallyportWarning', message: /not sent: TypeError/ })
  const faults: unknown[] = []
  const port = await serve(t, (_req, res) => {
    void sendResponse(res, bad, (error) => {
      faults.push(error)
      res.removeHeader('x-a')
      void sendResponse(res, { status: 500, headers: {}, body: 'ours' })
    })
  })
  t.match(await dial(t, port, GET).closed, /^HTTP\/1\.1 500 .*ours$/s)
  t.match(faults, [{ code: 'ERR_INVALID_CHAR' }])
})

t.test('a client that does not read holds the stream back, and ends it by leaving', async (t) => {
  let yielded = 0
  const left = new Promise<number>((resolve) => {
    async function* endless(): AsyncGenerator<string> {
      try {
        for (; ; yielded++) yield 'x'.repeat(0x10000)
      } finally {
        resolve(yielded)
      }
    }
    const listening = serve(t, (_req, res) => void sendResponse(res, { status: 200, headers: {}, body: endless() }))
    void listening.then((port) => {
      const { socket } = dial(t, port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      socket.once('data', () => socket.pause())
      // The kernel's buffers take what they take; when nothing more is taken, the source has stopped.
      const settle = (before: number) => {
        if (yielded === before) socket.destroy()
        else setTimeout(settle, 50, yielded)
      }
      setTimeout(settle, 50, -1)
    })
  })
  t.ok((await left) < 4096, 'far from endless')
})

t.test('a host that has answered already', async (t) => {
  const port = await serve(t, (_req, res) => {
    res.end('first')
    void sendResponse(res, { status: 500, headers: {}, body: 'second' })
  })
  t.match(await dial(t, port, GET).closed, /^HTTP\/1\.1 200 .*first$/s)
})
