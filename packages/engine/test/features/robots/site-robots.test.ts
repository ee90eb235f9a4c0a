import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { type ConfigInput, open, type Sallyport } from '../../../src/open/index.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { openService } from '../../open/opened.ts'
import { requestFrom } from '../../open/requests.ts'

const RUDE = { id: 'rude', match: { robots: ['disallowed'] }, action: 'block' } as const

const decided = ({ decide }: Pick<Sallyport, 'decide'>, target: string, userAgent = 'Bot/1') =>
  decide({ ...requestFrom('198.51.100.7', ['Host', 'x', 'User-Agent', userAgent]), target })

t.test('a rule refuses what the robots.txt of the policy refuses, after a reload too', async (t) => {
  const base = madeConfig(t.testdir())
  const makeConfig = (path: string) => {
    const secret = { id: 'secret', match: { path: [path], crawler: ['gptbot'] }, action: 'block' as const }
    return { ...base, policy: { rules: [RUDE, secret] } }
  }
  const sallyport = await openService(t, makeConfig('/a/**'))
  t.match(sallyport.robots(), /User-agent: GPTBot\nDisallow: \/a\$/)
  const mount = sallyport.decider({ policy: { rules: [RUDE] } })
  const of = (target: string, at: Pick<Sallyport, 'decide'> = sallyport) => {
    const { action, reasons } = decided(at, target, 'GPTBot/1.2')
    return `${action} ${reasons[0]?.id}`
  }
  t.same([of('/a/x'), of('/b/x')], ['block policy:rude', 'allow policy:default'])
  t.equal(of('/a/x', mount), 'block policy:rude')
  await sallyport.reload(makeConfig('/b/**'))
  t.same([of('/a/x'), of('/b/x')], ['allow policy:default', 'block policy:rude'])
  t.equal(of('/b/x', mount), 'block policy:rude')
})

t.test("the site's own file is read beside the policy's, at a reload again", async (t) => {
  const file = join(t.testdir(), 'robots.txt')
  const config: ConfigInput = { ...madeConfig(t.testdirName), policy: { rules: [RUDE] }, robots: { file } }
  await t.rejects(open(config), { code: 'invalid_config', message: `robots.file: ${file} does not exist` })
  writeFileSync(file, 'User-agent: bot\nDisallow: /a')
  const sallyport = await openService(t, config)
  const actions = () => ['/a', '/b'].map((target) => decided(sallyport, target).action)
  t.same(actions(), ['block', 'allow'])
  const source = sallyport.sources().find(({ id }) => id === 'robots:file')
  t.match(source, { state: 'loaded', entries: 1, checked: /^20/ })
  writeFileSync(file, 'User-agent: *\nDisallow: /b')
  await sallyport.reload(config)
  t.same(actions(), ['allow', 'block'])
  await t.rejects(sallyport.reload({ ...config, robots: { file: `${file}.away` } }), { code: 'invalid_config' })
  t.same(actions(), ['allow', 'block'])
})

t.test('a recorded request is left open where an origin would have to be asked', async (t) => {
  const asked = { fields: ['Host', 'x', 'User-Agent', 'Bot/1'], target: '/a' }
  const unjudged = async (config: ConfigInput) => {
    const all = { ...madeConfig(t.testdir()), policy: { rules: [RUDE] }, ...config }
    const sallyport = await open(all, { onNotice: () => {}, clock: { now: Date.now } })
    const decision = await sallyport.check(makeAddress('198.51.100.7'), { ...asked, headersKnown: true, asked })
    await sallyport.close()
    return decision.unjudged
  }
  const upstream = 'http://127.0.0.1:1'
  t.same(await unjudged({ upstream }), [{ rule: 'rude', words: ['robots'] }])
  t.same(await unjudged({ routes: [{ path: '/x', upstreams: [upstream] }] }), [{ rule: 'rude', words: ['robots'] }])
  t.same(await unjudged({ upstream, robots: { serve: true } }), [])
  t.same(await unjudged({}), [])
  const put = { ...RUDE, match: { ...RUDE.match, method: ['PUT'] } } as const
  t.same(await unjudged({ upstream, policy: { rules: [put] } }), [])
})
