import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { certificate } from '../certificate.ts'
import { type Judge, short } from './case.ts'

/** Bytes of a request; its text says which status the origin's answer has, and what the origin must not see. */
export const rawRequest: Judge = {
  takes: ({ name }) => name.endsWith('.http'),
  async judge(file, product) {
    const gate = await product.gate({ trustProxy: ['loopback'] })
    const status = Number(/origin's (\d{3})/.exec(file.expected)?.[1])
    const unseen = /sees neither (\S+) nor ([^\s.]+)/.exec(file.expected)?.slice(1) ?? []
    const heads = gate.origin.heads.length
    const came = await gate.ask(`${file.text.trimEnd().replace(/\r?\n/g, '\r\n')}\r\n\r\n`)
    const head = gate.origin.heads[heads] ?? ''
    const seen = unseen.filter((name) => new RegExp(`^${name}:`, 'im').test(head))
    return [
      {
        input: file.name,
        expected: `${status} of the origin, without ${unseen.join(', ')}`,
        came: `${came.status}, ${head === '' ? 'nothing at the origin' : seen.length === 0 ? 'without them' : `with ${seen.join(', ')}`}`,
        ok: came.status === status && head !== '' && unseen.length > 0 && seen.length === 0,
      },
    ]
  },
}

interface KeptConnection {
  /** The origin answers `GET /304` or `anything else` with these bytes. */
  readonly origin: Readonly<Record<string, string>>
  readonly steps: readonly string[]
  readonly expected: string
}

/** One kept connection: a request that is asked first, and others as soon as the head of its answer is there. */
export const keptConnection: Judge = {
  takes: ({ name, text }) => name.endsWith('.json') && text.includes('"steps"'),
  async judge(file, product) {
    const { origin, steps, expected } = JSON.parse(file.text) as KeptConnection
    const answers = Object.entries(origin)
    const gate = await product.gate({ trustProxy: ['loopback'] }, (head) => {
      const known = answers.find(([request]) => head.startsWith(`${request} `)) ?? answers.at(-1)
      return known?.[1] ?? ''
    })
    const words = steps.join(' ')
    const [, first = '', field] = /(GET \S+)(?: with (If-None-Match))?/.exec(words) ?? []
    const [, path = '', length = '0'] = /POST (\S+) with a body of (\d+) bytes/.exec(words) ?? []
    const times = Number(/(\d+) times/.exec(words)?.[1] ?? 1)
    const host = 'Host: site.example\r\n'
    const get = `${first} HTTP/1.1\r\n${host}${field === undefined ? '' : `${field}: "x"\r\n`}\r\n`
    const post = `POST ${path} HTTP/1.1\r\n${host}Content-Length: ${length}\r\n\r\n${'x'.repeat(Number(length))}`
    const { posts, open } = await onOneConnection(gate.url, get, post, times)
    const failures = gate.failures.length
    return [
      {
        input: file.name,
        expected: short(expected),
        came: `${posts} of ${times} POSTs 200, connection ${open ? 'open' : 'closed'}, ${failures} failures of the origin`,
        ok: posts === times && open && failures === 0,
      },
    ]
  },
}

/** Sends the first request and a POST in turn, until an answer is not 200 or the connection ends. */
function onOneConnection(url: string, get: string, post: string, times: number) {
  return new Promise<{ readonly posts: number; readonly open: boolean }>((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(get))
    let [unread, posts, isFirst] = ['', 0, true]
    const done = (open: boolean): void => {
      socket.destroy()
      resolve({ posts, open })
    }
    socket.setTimeout(20_000, () => done(false))
    socket.on('error', () => {})
    socket.on('close', () => done(false))
    socket.on('data', (data) => {
      unread += data.toString('latin1')
      const end = unread.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = unread.slice(0, end)
      // A 304 has no body, whatever its length says.
      const length = isFirst ? 0 : Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
      if (unread.length < end + 4 + length) return
      unread = unread.slice(end + 4 + length)
      if (!isFirst) {
        if (!head.startsWith('HTTP/1.1 200')) return done(true)
        posts++
      }
      // A pair again: the POST comes upon the heels of a 304.
      isFirst = !isFirst
      if (posts === times) setTimeout(() => done(!socket.destroyed), 100)
      else socket.write(isFirst ? get : post)
    })
  })
}

/** Judges a request of HTTP/2 in words: its method and path, the field `trailer`, and a section of trailers behind its data. */
export const http2Trailer: Judge = {
  takes: ({ name, text }) => name.endsWith('.txt') && /^HTTP\/2: /.test(text),
  async judge(file, product) {
    const [, method = '', path = '', name = ''] =
      /^HTTP\/2: (\S+) (\S+), request field trailer: ([^,]+),/.exec(file.text) ?? []
    const value = new RegExp(`trailer section ${name}: ([^.\\s]+)`).exec(file.text)?.[1] ?? ''
    const status = Number(/Expected: [^.]*\((\d{3})\)/.exec(file.text)?.[1])
    const gate = await product.gate({ trustProxy: ['loopback'] }, undefined, {
      tls: { certificates: [certificate(product.folder)] },
    })
    const heads = gate.origin.heads.length
    const came = await withTrailers(gate.url, { ':method': method, ':path': path, trailer: name }, { [name]: value })
    const arrived = gate.origin.heads.length > heads
    return [
      {
        input: file.name,
        expected: `${status}, forwarded`,
        came: `${came}, ${arrived ? 'forwarded' : 'nothing at the origin'}`,
        ok: came === status && arrived,
      },
    ]
  },
}

/** Returns the status of the answer, or 0 where there is none. */
function withTrailers(url: string, head: Readonly<Record<string, string>>, trailers: Readonly<Record<string, string>>) {
  return new Promise<number>((resolve) => {
    const session = connectHttp2(url, { rejectUnauthorized: false })
    session.on('error', () => resolve(0))
    const stream = session.request(
      { ':authority': 'site.example', ...head },
      { waitForTrailers: true, endStream: false },
    )
    let status = 0
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.on('response', (fields) => (status = Number(fields[':status'])))
    stream.on('error', () => {})
    stream.on('close', () => {
      session.destroy()
      resolve(status)
    })
    stream.resume()
    stream.end('data')
  })
}
