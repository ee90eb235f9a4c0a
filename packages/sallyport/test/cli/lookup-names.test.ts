import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { run, workspace } from './command.ts'

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

/** A configuration whose names and whose registry are on loopback. */
async function namesAndRegistry(t: Test, answer: string): Promise<string> {
  const registry = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.end(answer)))
  const port = await listening(t, registry)
  const names = await openNames(t)
  const outbound = [`whois: { servers: { de: "127.0.0.1:${port}" } }`, 'net: { allowPrivate: ["127.0.0.0/8"] }']
  return workspace(t, [...outbound, `dns: { servers: ["${names}"], timeoutMs: 5000 }`]).config
}

t.test('a hostname is shown with the registration of its domain', async (t) => {
  const answer = `Domain: example.de
Registrar: Example Registrar
Nserver: ns1.example.net
Nserver: ns2.example.net
Status: connect
Changed: 2021-02-03T10:29:38+02:00
Registrant Name: REDACTED FOR PRIVACY
`
  const config = await namesAndRegistry(t, answer)
  const { code, out } = await run('lookup', 'https://www.example.de/', '--config', config)
  t.equal(code, 0)
  for (const line of [
    /^address +8\.8\.8\.8$/m,
    /^domain +example\.de$/m,
    /^registrar +Example Registrar$/m,
    /^updated +2021-02-03$/m,
    /^nameservers +ns1\.example\.net, ns2\.example\.net$/m,
    /^status +connect$/m,
    /^registrant +redacted by a privacy service or the registry$/m,
  ]) {
    t.match(out, line)
  }
  const machine = await run('lookup', 'www.example.de', '--config', config, '--json')
  t.match(JSON.parse(machine.out).whois, {
    domain: 'example.de',
    registrar: 'Example Registrar',
    privacyProtection: true,
  })
})

t.test('a registry that refuses leaves the rest of the answer as it is', async (t) => {
  const config = await namesAndRegistry(t, 'You have exceeded your quota of queries.\n')
  const { code, out } = await run('lookup', 'www.example.de', '--config', config, '--json')
  t.equal(code, 0)
  const answer = JSON.parse(out)
  t.match(answer.target, { kind: 'hostname', hostname: 'www.example.de', ip: '8.8.8.8' })
  t.ok(answer.degraded.includes('whois'))
  t.notOk('whois' in answer)
})
