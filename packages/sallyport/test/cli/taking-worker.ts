import { createServer } from 'node:net'
import { readConfig } from '@sallyport/engine'
import { isFromPrimary, sendToPrimary } from '../../src/cli/workers/worker-messages.ts'

/** A worker of a crew that takes connections and ends them. */
process.on('message', (message) => {
  if (!isFromPrimary(message) || message.primary !== 'start') return
  const server = createServer((socket) => socket.end())
  server.listen(0, '127.0.0.1', () => sendToPrimary({ worker: 'serves', config: message.config ?? readConfig({}) }))
})
sendToPrimary({ worker: 'begins' })
