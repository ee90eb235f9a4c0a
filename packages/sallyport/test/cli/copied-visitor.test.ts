import { fileURLToPath } from 'node:url'
import { type ConfigInput, open, readConfig } from '@sallyport/engine'
import t from 'tap'
import { decideVisit, fieldsFor } from '../../src/cli/demo/visit.ts'
import { DEMO_VISITORS } from '../../src/cli/demo/visitors.ts'
import { workspace } from './command.ts'

const DEMO = fileURLToPath(new URL('../../../demo.yaml', import.meta.url))
const COPIED = DEMO_VISITORS.find(({ id }) => id === 'copied')
const TLS = DEMO_VISITORS.find(({ id }) => id === 'tls')

t.test('a copied user agent on a server is challenged by presets, and flagged by the default', async (t) => {
  if (COPIED === undefined) throw new Error('The demo has no such visitor.')
  const { folder } = workspace(t)
  const decide = async (policy: ConfigInput['policy']) => {
    const config = {
      dataDir: folder,
      data: { refresh: false },
      net: { outbound: false },
      log: { requests: 'off' },
    } as const
    const sallyport = await open({ ...config, trustProxy: ['loopback'], policy }, { onNotice() {} })
    const [target] = COPIED.paths
    const fields = [...fieldsFor(COPIED, { host: 'shop.example', target }), 'X-Forwarded-For', COPIED.address]
    const asked = { peer: '127.0.0.1', method: 'GET', scheme: 'http', httpVersion: '1.1' } as const
    const decision = sallyport.decide({ ...asked, target, fields })
    await sallyport.close()
    return decision
  }
  for (const preset of ['protect-content', 'stop-scrapers', 'under-attack', 'jurisdiction-strict'] as const)
    t.equal((await decide({ preset })).action, 'challenge', preset)
  const { action, inspection } = await decide({})
  t.equal(action, 'flag')
  t.ok(inspection.agent.botProbability > 0.73, `${inspection.agent.botProbability}`)
  const { policy } = readConfig({ file: DEMO })
  t.equal((await decide(policy as ConfigInput['policy'])).action, 'flag', 'in the demo')
})

t.test('the demo refuses Firefox whose JA4 is that of a program, where a trusted peer names it', async (t) => {
  if (TLS === undefined) throw new Error('The demo has no such visitor.')
  const { folder: dataDir } = workspace(t)
  const { policy, ja4Header } = readConfig({ file: DEMO })
  const quiet = { data: { refresh: false }, net: { outbound: false }, log: { requests: 'off' } } as const
  const more = { policy, ja4Header } as Pick<ConfigInput, 'policy' | 'ja4Header'>
  const sallyport = await open({ ...quiet, ...more, dataDir, trustProxy: ['loopback'] }, { onNotice() {} })
  t.teardown(() => sallyport.close())
  const aim = { host: 'shop.example', target: TLS.paths[0] }
  const fields = [...fieldsFor(TLS, aim), 'X-Forwarded-For', TLS.address]
  t.match(decideVisit(sallyport, TLS, aim, fields), { action: 'block', enforced: true })
  const repeated = [...fields, 'x-ja4', 't13d1516h2_8daaf6152771_02713d6af862']
  t.not(decideVisit(sallyport, TLS, aim, repeated).action, 'block', 'of two nothing says which is true')
})
