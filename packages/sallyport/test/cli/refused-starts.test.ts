import { readFileSync } from 'node:fs'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { run, workspace } from './command.ts'

t.test('a start that cannot serve ends with one sentence, and does not listen', async (t) => {
  const listen = `127.0.0.1:${await freePort()}`
  const { config, write } = workspace(t)
  const base = readFileSync(config, 'utf8')
  const bad = write('bad.pem', 'no certificate')
  for (const [line, code, said] of [
    [`tls: { certificates: [{ cert: ${bad}, key: ${bad} }] }`, 1, /tls: \S+ is not a certificate in PEM/],
    ['dataDir: /proc/sallyport/x', 1, /dataDir: \S+ is in a file system of the kernel/],
    ['store: sqlite:/proc/sallyport/x.db', 1, /store: \/proc\/sallyport is in a file system of the kernel/],
    ['log: { file: /proc/sallyport/x/y.log }', 2, /log\.file: \S+ is in a file system of the kernel/],
    ['refusal: { template: /no/page.html }', 2, /refusal\.template: \/no\/page\.html does not exist/],
    [`upstream: http://${listen}`, 2, /upstream: \S+ is the address in listen, where this proxy itself listens/],
    [`upstream: http://localhost:${listen.split(':')[1]}`, 2, /upstream: \S+ is the address in listen/],
    [`admin: ${listen}`, 2, /admin: is already the address of listen/],
    ['redis: redis://127.0.0.1:1/nothing', 2, /redis: must end with the port or a database number/],
  ] as const) {
    const rest = line.startsWith('dataDir') ? base.replace(/^dataDir: .*\n/, '') : base
    const admin = line.startsWith('admin') ? '' : 'admin: 127.0.0.1:0\n'
    const ended = await run('proxy', '--config', write('sallyport.yaml', `listen: ${listen}\n${admin}${rest}${line}\n`))
    const lines = ended.err.split('\n').filter((text) => text !== '' && !/^compiling: |Data/.test(text))
    t.equal(ended.code, code, line)
    t.match(lines, [said], line)
    t.equal(lines.length, 1, line)
  }
})
