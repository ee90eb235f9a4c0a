import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { start, until, workspace } from './command.ts'

t.test('an authority that accepts and stays silent does not hold up SIGTERM', async (t) => {
  let asked = 0
  const silent = createServer(() => void asked++)
  const { config } = workspace(t, ['demo: true', 'http: 127.0.0.1:0', 'timeouts: { drain: 0s }'])
  const directory = `http://127.0.0.1:${await listening(t, silent)}/dir`
  const acme = `tls: { acme: { domains: [site.example], email: ops@site.example, directory: "${directory}" } }\n`
  writeFileSync(config, `${readFileSync(config, 'utf8')}${acme}`)
  const proxy = start(t, ['proxy', '--config', config, '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'])
  await until(() => asked === 1)
  await proxy.says('Listening')
  const began = performance.now()
  proxy.child.kill('SIGTERM')
  t.equal(await proxy.ended, 0)
  t.ok(performance.now() - began < 15_000, 'long before the time that an answer has')
  t.notMatch(proxy.err(), /tls\.acme/)
})
