import t from 'tap'
import { open } from '../../src/open/index.ts'
import { readRobots } from '../../src/open/policy-robots.ts'
import { madeConfig } from './made-sources.ts'
import { requestFrom } from './requests.ts'

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

t.test('robots.txt is read for the name that a user agent has', async (t) => {
  const refuses = readRobots(
    'User-agent: GPTBot\nUser-agent: Ai2Bot-Dolma\nDisallow: /\nAllow: /open/\n\nUser-agent: *\nDisallow: /private/\n',
  )
  const rows = [
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
      '/x',
      true,
    ],
    ['GPTBot/1.2', '/open/x?y=1', false],
    ['gptbot', '/', true],
    ['Ai2Bot-Dolma', '/', true],
    ['GPTBotany/1', '/', false],
    ['curl/8.1', '/private/x', true],
    ['', '/private/x', true],
    ['SomeBot/1', '/private', false],
    ['Mozilla/5.0 (compatible; OtherBot/1.0)', '/private/', true],
    [CHROME, '/private/x', false],
    ['GPTBot/1.2', '*', false],
  ] as const
  for (const [userAgent, target, refused] of rows)
    t.equal(refuses(userAgent, target), refused, `${userAgent} ${target}`)
})

t.test('a rule refuses what the robots.txt of the policy refuses, after a reload too', async (t) => {
  const rude = { id: 'rude', match: { robots: ['disallowed' as const] }, action: 'block' as const }
  const base = madeConfig(t.testdir())
  const secret = (path: string) => ({
    id: 'secret',
    match: { path: [path], crawler: ['gptbot'] },
    action: 'block' as const,
  })
  const configOf = (path: string) => ({ ...base, policy: { rules: [rude, secret(path)] } })
  const sallyport = await open(configOf('/a/**'), { onNotice: () => {} })
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
  await sallyport.reload(configOf('/b/**'))
  t.same([of('/a/x'), of('/b/x')], ['allow policy:default', 'block policy:rude'])
  t.equal(of('/b/x', mount.decide), 'block policy:rude')
})
