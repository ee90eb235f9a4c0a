import { createSocket } from 'node:dgram'

// A name server in a process of its own: it takes its time, and says of every name that it is not there. Sends its address when it listens.
const TAKES_MS = 20

const socket = createSocket('udp4')
socket.on('message', (question, from) => {
  setTimeout(() => {
    // The question itself, marked as an answer with the code NXDOMAIN (RFC 1035 section 4.1.1).
    question.writeUInt16BE(0x8183, 2)
    socket.send(question, from.port, from.address)
  }, TAKES_MS)
})
socket.bind(0, '127.0.0.1', () => process.send?.(`127.0.0.1:${socket.address().port}`))
