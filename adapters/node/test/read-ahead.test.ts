import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { hasArrived, readAhead } from '../src/request/read-ahead.ts'

const NEVER = () => false

t.test('what was read is read again by the next reader', async (t) => {
  const seen: unknown[] = []
  const server = createServer(async (req, res) => {
    const read = await readAhead(req, () => hasArrived(req))
    const { readableDidRead, readableEnded } = req
    seen.push('bytes' in read ? [String(Buffer.from(read.bytes)), readableDidRead, readableEnded] : read)
    res.end(await text(req))
  })
  const url = `http://127.0.0.1:${await listening(t, server)}`
  const whole = 'x'.repeat(65_536)
  for (const body of ['{}', whole]) {
    const answer = await fetch(url, { method: 'POST', body })
    t.equal(await answer.text(), body)
    t.same(seen.pop(), [body, false, false])
  }
  const stream = Readable.toWeb(Readable.from([Buffer.from('ab')]))
  t.equal(await (await fetch(url, { method: 'POST', body: stream, duplex: 'half' } as RequestInit)).text(), 'ab')
  t.same(seen.pop(), ['ab', false, false])
  t.equal(await (await fetch(url, { method: 'POST', body: `${whole}y` })).text(), `${whole}y`)
  t.same(seen.pop(), { missing: 'too_large' })
})

const gather = (req: IncomingMessage, event: string, read: (part: unknown) => unknown): Promise<string> =>
  new Promise((resolve) => {
    let all = ''
    req.on(event, (part) => (all += read(part) ?? '')).on('end', () => resolve(all))
  })

t.test('every way to read a request works after it', async (t) => {
  const ways: Readonly<Record<string, (req: IncomingMessage) => Promise<string>>> = {
    data: (req) => gather(req, 'data', (part) => part),
    readable: (req) => gather(req, 'readable', () => req.read()),
    iterator: async (req) => (await req.toArray()).join(''),
    pipe: (req) => text(req.pipe(new PassThrough())),
    web: (req) => new Response(Readable.toWeb(req) as ReadableStream).text(),
  }
  for (const [name, way] of Object.entries(ways)) {
    const server = createServer(async (req, res) => {
      await readAhead(req, () => hasArrived(req))
      res.end(await way(req))
    })
    const url = `http://127.0.0.1:${await listening(t, server)}`
    for (let at = 0; at < 2; at++)
      t.equal(await (await fetch(url, { method: 'POST', body: '{"a":1}' })).text(), '{"a":1}', name)
  }
})

t.test('a slow client and one that leaves are not waited for', async (t) => {
  const slow = new PassThrough()
  slow.write('half')
  t.same(await readAhead(slow, NEVER, 1), { missing: 'slow' })
  slow.end(' and half')
  t.equal(await text(slow), 'half and half', 'nothing is lost')

  const cut = new PassThrough()
  cut.on('error', () => {})
  cut.write('half')
  const reading = readAhead(cut, NEVER)
  cut.destroy(new Error('reset'))
  t.same(await reading, { missing: 'slow' })
  t.same(await readAhead(cut, NEVER), { missing: 'slow' })
  const short = new PassThrough()
  short.end('all')
  t.match(await readAhead(short, NEVER), { bytes: Buffer.from('all'), spent: true })
})

t.test('a connection goes on behind a body that nobody reads to its end', async (t) => {
  const server = createServer(async (req, res) => {
    const read = await readAhead(req, () => hasArrived(req))
    if ('missing' in read) res.once('finish', () => req.resume())
    res.end('done')
  })
  const port = await listening(t, server)
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  let received = ''
  const answers = async (count: number) => {
    while (received.split('done').length <= count) received += String((await once(socket, 'data'))[0])
  }
  for (const [at, length] of [10, 200_000, 10].entries()) {
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`)
    await answers(at + 1)
  }
  t.equal(received.split('HTTP/1.1 200').length, 4)
})
