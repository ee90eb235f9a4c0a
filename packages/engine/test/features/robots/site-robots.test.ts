import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, parseAddress } from '@sallyport/core'
import t from 'tap'
import { type ConfigInput, open, type Sallyport } from '../../../src/open/index.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { requestFrom } from '../../open/requests.ts'

t.test('a rule refuses what the robots.txt of the policy refuses, after a reload too', async (t) => {
  const rude = { id: 'rude', match: { robots: ['disallowed' as const] }, action: 'block' as const }
  const base = madeConfig(t.testdir())
  const secret = (path: string) => ({
    id: 'secret',
    match: { path: [path], crawler: ['gptbot'] },
    action: 'block' as const,
  })
  const makeConfig = (path: string) => ({ ...base, policy: { rules: [rude, secret(path)] } })
  const sallyport = await open(makeConfig('/a/**'), { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  t.match(sallyport.robots(), /User-agent: GPTBot\nDisallow: \/a\$/)
  const mount = sallyport.decider({ policy: { rules: [rude] } })
  const of = (target: string, decide = sallyport.decide) => {
    const { action, reasons } = decide({
      ...requestFrom('198.51.100.7', ['Host', 'x', 'User-Agent', 'GPTBot/1.2']),
      target,
    })
    return `${action} ${reasons[0]?.id}`
  }
  t.same([of('/a/x'), of('/b/x')], ['block policy:rude', 'allow policy:default'])
  t.equal(of('/a/x', mount.decide), 'block policy:rude')
  await sallyport.reload(makeConfig('/b/**'))
  t.same([of('/a/x'), of('/b/x')], ['allow policy:default', 'block policy:rude'])
  t.equal(of('/b/x', mount.decide), 'block policy:rude')
})

const RUDE = { id: 'rude', match: { robots: ['disallowed'] }, action: 'block' } as const

function decided({ decide }: Pick<Sallyport, 'decide'>, target: string): string {
  return decide({ ...requestFrom('198.51.100.7', ['Host', 'x', 'User-Agent', 'Bot/1']), target }).action
}

t.test("the site's own file is read beside the policy's, at a reload again", async (t) => {
  const file = join(t.testdir(), 'robots.txt')
  const config: ConfigInput = { ...madeConfig(t.testdirName), policy: { rules: [RUDE] }, robots: { file } }
  await t.rejects(open(config), { code: 'invalid_config', message: `robots.file: ${file} does not exist` })
  writeFileSync(file, 'User-agent: bot\nDisallow: /a')
  const sallyport = await open(config, { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  t.same([decided(sallyport, '/a'), decided(sallyport, '/b')], ['block', 'allow'])
  t.match(
    sallyport.sources().find(({ id }) => id === 'robots:file'),
    { state: 'loaded', entries: 1, checked: /^20/ },
  )
  writeFileSync(file, 'User-agent: *\nDisallow: /b')
  await sallyport.reload(config)
  t.same([decided(sallyport, '/a'), decided(sallyport, '/b')], ['allow', 'block'])
  await t.rejects(sallyport.reload({ ...config, robots: { file: `${file}.away` } }), { code: 'invalid_config' })
  t.equal(decided(sallyport, '/b'), 'block')
})

t.test('a recorded request is left open where an origin would have to be asked', async (t) => {
  const unjudged = async (config: ConfigInput) => {
    const all = { ...madeConfig(t.testdir()), policy: { rules: [RUDE] }, ...config }
    const sallyport = await open(all, { onNotice: () => {}, clock: { now: Date.now } })
    const asked = { fields: ['Host', 'x', 'User-Agent', 'Bot/1'], target: '/a' }
    const described = { ...asked, headersKnown: true, asked }
    const decision = await sallyport.check(parseAddress('198.51.100.7') as Address, described)
    await sallyport.close()
    return decision.unjudged
  }
  const upstream = 'http://127.0.0.1:1'
  t.same(await unjudged({ upstream }), [{ rule: 'rude', words: ['robots'] }])
  t.same(await unjudged({ routes: [{ path: '/x', upstreams: [upstream] }] }), [{ rule: 'rude', words: ['robots'] }])
  t.same(await unjudged({ upstream, robots: { serve: true } }), [])
  t.same(await unjudged({}), [])
  t.same(
    await unjudged({ upstream, policy: { rules: [{ ...RUDE, match: { robots: ['disallowed'], method: ['PUT'] } }] } }),
    [],
  )
})
