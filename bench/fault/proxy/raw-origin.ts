import { type AddressInfo, createServer, type Socket } from 'node:net'
import { ODD_HEADS } from './odd-heads.ts'
import { ORIGIN_FAULTS } from './origin-faults.ts'

/*
 * An origin of bytes: it fails in the way whose number is in a path /fault/N, answers with the odd head of /odd/N, and well where there is
 * neither.
 */
const FAULTS = Object.values(ORIGIN_FAULTS)
const HEADS = Object.values(ODD_HEADS)
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

function answer(socket: Socket, head: string): void {
  const [, kind, number] = /^[A-Z]+ \/(fault|odd)\/(\d+) /.exec(head) ?? []
  const fault = kind === 'fault' ? FAULTS[Number(number)] : undefined
  const odd = kind === 'odd' ? HEADS[Number(number)] : undefined
  if (fault !== undefined) void fault(socket)
  else if (odd !== undefined) socket.end(head.startsWith('HEAD') ? odd.slice(0, -2) : odd, 'latin1')
  else socket.write(head.startsWith('HEAD') ? OK.slice(0, -2) : OK)
}

const server = createServer((socket) => {
  let head = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes) => {
    head += bytes.toString('latin1')
    if (!head.includes('\r\n\r\n')) return
    answer(socket, head)
    head = ''
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.send?.((server.address() as AddressInfo).port),
)
