import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Sallyport } from '@sallyport/engine'
import type { Express } from 'express'
import t from 'tap'
import ts from 'typescript'
import { running } from '../hosts/host.ts'
import { NO_DATA } from '../no-data.ts'
import { ROOT } from '../workspaces.ts'
import { readFences } from './fences.ts'

/** Programs that guard a login, as a reader copies them; of the example all but its own server. */
const FENCES = readFences(['packages/sallyport/docs/logins.md'])
const [PASSPORT = ''] = readFileSync(join(ROOT, 'examples/passport.ts'), 'utf8').split('const server =', 1)
const RECIPES: Readonly<Record<string, string>> = {
  'a hand-written login': FENCES.find(({ language }) => language === 'ts')?.text ?? '',
  Passport: PASSPORT.replace(/^(?=const (?:sallyport|app) =)/gm, 'export '),
}

/** Runs a program as it is written: only its folder and its data are the test's own. */
async function startRecipe(text: string, dataDir: string): Promise<{ app: Express; sallyport: Sallyport }> {
  const quiet = { data: { refresh: false, sources: NO_DATA }, net: { outbound: false }, log: { requests: 'off' } }
  const own = { dataDir, trustProxy: ['loopback'], ...quiet }
  const program = text.replace('policy: {', () => `...${JSON.stringify(own)}, policy: {`)
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }
  const { outputText } = ts.transpileModule(program, { compilerOptions })
  // In a folder from which Node finds the packages.
  const file = join(ROOT, `examples/dist/recipe-${process.pid}.mjs`)
  writeFileSync(file, outputText)
  try {
    return await import(`${pathToFileURL(file).href}?${basename(dataDir)}`)
  } finally {
    rmSync(file)
  }
}

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0' }

for (const [name, recipe] of Object.entries(RECIPES)) {
  t.test(`the recipe of ${name} challenges guesses, and lets the owner in`, async (t) => {
    const { app, sallyport } = await startRecipe(recipe, t.testdir())
    t.teardown(() => sallyport.close())
    const host = await running(createServer(app))
    t.teardown(() => host.close())
    const signIn = async (address: string, password: string, email = 'ada@shop.example') => {
      const headers = { 'x-forwarded-for': address, ...BROWSER }
      const body = new URLSearchParams({ email, password })
      const answer = await fetch(`http://127.0.0.1:${host.port}/login`, { method: 'POST', headers, body })
      return [answer.status, /welcome|is wrong/i.exec(await answer.text())?.[0]?.toLowerCase()]
    }
    const owner = () => signIn('81.130.10.20', 'of Ada')
    t.same(await owner(), [200, 'welcome'])
    const wrong = [401, 'is wrong']
    for (let at = 0; at < 10; at++) t.same(await signIn(`${11 + at}.0.7.9`, `guess ${at}`), wrong)
    t.equal((await signIn('91.0.7.9', 'guess'))[0], 403)
    t.equal((await signIn('91.0.7.9', 'of Ada'))[0], 403, 'a right guess gets the answer of a wrong one')
    t.same(await owner(), [200, 'welcome'], 'from a network that is known')
    t.same(await signIn('91.0.7.9', 'guess', 'nobody@shop.example'), wrong)

    sallyport.drain()
    const text = await sallyport.metrics().metrics()
    const lines = text.match(/(?<=^sallyport_account_events_total\{event="login",outcome=)(?!"asked").*$/gm)
    const counted = lines?.map((line) => line.replace(/,action="allow",enforced="true"\}/, '')).sort()
    const looked = ['"failure" 10', '"success" 2', '"unknown_user" 1']
    t.same(counted, looked, 'the password of a challenged guess is not even looked at')
    const visitor = { address: '81.130.10.20', headers: BROWSER }
    const event = { event: 'login', identifier: 'another name', user: '17', visitor }
    t.match(await sallyport.accounts.assessDescribed(event), { account: { known: true } }, 'remembered by the user')
  })
}
