import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { workspace } from './command.ts'

/** A name server on loopback that gives every name the address 8.8.8.8, and no IPv6 address. */
async function openNames(t: Test): Promise<string> {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5
    const isA = query.readUInt16BE(end - 4) === 1
    const question = query.subarray(12, end)
    // The response has no error, the question, and for A one record whose name points to it.
    const header = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0])
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 8, 8, 8, 8])
    socket.send(Buffer.concat([header, question, ...(isA ? [record] : [])]), from.port)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

t.test('a hostname is shown with the registration of its domain, or without where the registry refuses', async (t) => {
  let answer = `Domain: example.de
Registrar: Example Registrar
Nserver: ns1.example.net
Nserver: ns2.example.net
Status: connect
Changed: 2021-02-03T10:29:38+02:00
Registrant Name: REDACTED FOR PRIVACY
`
  const registry = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.end(answer)))
  const { command, object } = workspace(t, [
    `whois: { servers: { de: "127.0.0.1:${await listening(t, registry)}" } }`,
    'net: { allowPrivate: ["127.0.0.0/8"] }',
    `dns: { servers: ["${await openNames(t)}"], timeoutMs: 5000 }`,
  ])
  const { code, out } = await command('lookup', 'https://www.example.de/')
  t.equal(code, 0)
  for (const line of [
    /^address +8\.8\.8\.8$/m,
    /^domain +example\.de$/m,
    /^registrar +Example Registrar$/m,
    /^updated +2021-02-03$/m,
    /^nameservers +ns1\.example\.net, ns2\.example\.net$/m,
    /^status +connect$/m,
    /^registrant +redacted by a privacy service or the registry$/m,
  ])
    t.match(out, line)
  const { whois } = await object('lookup', 'www.example.de')
  t.match(whois, { domain: 'example.de', registrar: 'Example Registrar', privacyProtection: true })

  answer = 'You have exceeded your quota of queries.\n'
  const refused = await object('lookup', 'www.example.de')
  t.match(refused.target, { kind: 'hostname', hostname: 'www.example.de', ip: '8.8.8.8' })
  t.ok(refused.degraded.includes('whois'))
  t.notOk('whois' in refused)
})
