import { type AddressInfo, createServer } from 'node:net'
import { ORIGIN_FAULTS } from './origin-faults.ts'

// An origin that does what the number in a request's path says, and answers well where there is none.
const FAULTS = Object.values(ORIGIN_FAULTS)
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const server = createServer((socket) => {
  let head = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes) => {
    head += bytes.toString('latin1')
    if (!head.includes('\r\n\r\n')) return
    const number = /^[A-Z]+ \/fault\/(\d+) /.exec(head)?.[1]
    head = ''
    const fault = FAULTS[Number(number)]
    if (fault === undefined) socket.write(OK)
    else void fault(socket)
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.send?.((server.address() as AddressInfo).port),
)
