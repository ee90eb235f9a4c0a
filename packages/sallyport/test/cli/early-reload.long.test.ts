import { appendFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { start, until, workspace } from './command.ts'
import { LOOPBACK, SHUT } from './reloading.ts'

for (const [who, ...workers] of [['one process'], ['a primary', '--workers', '2']] as const) {
  t.test(`SIGHUP to ${who} that is starting is a reload once it serves`, async (t) => {
    const held: ServerResponse[] = []
    const publisher = createServer((_, response) => void held.push(response))
    const url = `http://127.0.0.1:${await listening(t, publisher)}/list`
    // The start is not complete before the first answer of a list.
    const { config } = workspace(t, ['net: { allowPrivate: [127.0.0.1/32] }', `lists: { mine: { url: "${url}" } }`])
    const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, ...workers])
    await until(() => held.length > 0)
    t.notMatch(proxy.err(), 'Listening')
    appendFileSync(config, SHUT)
    for (let sent = 0; sent < 3; sent++) process.kill(proxy.child.pid as number, 'SIGHUP')
    publisher.on('request', (_, response) => response.end('192.0.2.1\n'))
    for (const response of held) response.end('192.0.2.1\n')
    await proxy.says('configuration reloaded')
    t.match(proxy.err(), /Listening on .*configuration reloaded: policy\S* .*applied/s)
    t.equal(proxy.err().match(/configuration reloaded/g)?.length, 1)
    process.kill(proxy.child.pid as number, 'SIGTERM')
    t.equal(await proxy.ended, 0)
  })
}
