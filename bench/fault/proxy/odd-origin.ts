import { type AddressInfo, createServer } from 'node:net'
import { ODD_HEADS } from './odd-heads.ts'

// An origin that answers with the head whose number is in a request's path, and well where there is none.
const ANSWERS = Object.values(ODD_HEADS)
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const server = createServer((socket) => {
  let head = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes) => {
    head += bytes.toString('latin1')
    if (!head.includes('\r\n\r\n')) return
    const said = ANSWERS[Number(/^[A-Z]+ \/odd\/(\d+) /.exec(head)?.[1])] ?? OK
    socket.end(head.startsWith('HEAD') ? said.slice(0, -2) : said, 'latin1')
    head = ''
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.send?.((server.address() as AddressInfo).port),
)
