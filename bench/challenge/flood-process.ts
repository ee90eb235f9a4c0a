import { connect } from 'node:net'
import { BROWSER } from '../browser.ts'

/*
 * A flood from one address over some connections: `node flood-process.js PORT RATE ADDRESS SOLUTION`, of requests for questions, or with
 * a solution of bad answers, so many a second. No connection has more on its way than a proxy takes pipelined. It answers each message
 * with how many were answered.
 */
const [port = '', rate = '', address = '', solution = ''] = process.argv.slice(2)
const CONNECTIONS = 64
const MAX_PENDING = 8
const TICK_MS = 10

const fields = [
  'Host: 127.0.0.1',
  `X-Forwarded-For: ${address}`,
  `User-Agent: ${BROWSER}`,
  'Accept: text/html',
  'Accept-Encoding: gzip',
]
const lines =
  solution === ''
    ? ['GET /shop HTTP/1.1', ...fields, 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']
    : ['POST /.sallyport/pass HTTP/1.1', ...fields, `sallyport-solution: ${solution}`, 'Content-Length: 0']
const request = Buffer.from([...lines, '', ''].join('\r\n'))

const state = { answered: 0 }
const STATUS = Buffer.from('HTTP/1.1 ')

function flood(): void {
  const socket = connect(Number(port), '127.0.0.1')
  const each = (Number(rate) * TICK_MS) / 1_000 / CONNECTIONS
  let due = Math.random()
  let pending = 0
  const timer = setInterval(() => {
    due = Math.min(due + each, MAX_PENDING)
    const now = Math.min(Math.floor(due), MAX_PENDING - pending)
    if (now === 0) return
    due -= now
    pending += now
    socket.write(Buffer.concat(Array.from({ length: now }, () => request)))
  }, TICK_MS)
  socket.on('data', (bytes: Buffer) => {
    for (let at = bytes.indexOf(STATUS); at !== -1; at = bytes.indexOf(STATUS, at + 1)) {
      state.answered++
      pending--
    }
  })
  socket.on('error', () => {})
  // One that is cut comes again.
  socket.on('close', () => {
    clearInterval(timer)
    setTimeout(flood, 50)
  })
}

for (let connection = 0; connection < CONNECTIONS; connection++) flood()
process.on('message', () => process.send?.(state))
process.once('disconnect', () => process.exit())
process.send?.('ready')
