import { createServer } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import { inspection } from '@sallyport/express'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import { build } from 'esbuild'
import express from 'express'
import { guardAccounts } from 'sallyport/better-auth'
import t from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { openWithoutData } from '../hosts/without-data.ts'
import { openReader } from './reader.ts'

const ADA = { email: 'ada@shop.example', password: 'a right password', name: 'Ada' }
const PAGE = `<!doctype html><html lang="en"><title>Shop</title>
<script src="/.sallyport/pass.js"></script><script src="/client.js"></script><h1>Shop</h1>`
const CLIENT = "import { createAuthClient } from 'better-auth/client'; globalThis.client = createAuthClient()"

/** Returns the client of better-auth as a bundler writes it for a page. */
async function bundleClient(): Promise<string> {
  const stdin = { contents: CLIENT, resolveDir: import.meta.dirname }
  const { outputFiles } = await build({ stdin, bundle: true, format: 'iife', write: false, logLevel: 'silent' })
  return outputFiles[0]?.text ?? ''
}

t.test("better-auth's client signs in after a challenge that pass.js solves", { skip: NO_CHROMIUM }, async (t) => {
  const sallyport = await openWithoutData(t, { policy: { preset: 'observe', limits: ['account-guard'] } })
  const requests: string[] = []
  const app = express().use((req, _res, next) => {
    if (req.method === 'POST') requests.push(req.path)
    next()
  })
  const origin = `http://127.0.0.1:${await listening(t, createServer(app))}`
  const auth = betterAuth({
    secret: 'a secret of more than thirty-two characters',
    baseURL: origin,
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    logger: { disabled: true },
    emailAndPassword: { enabled: true },
    plugins: [guardAccounts(sallyport)],
  })
  const client = await bundleClient()
  app.use(inspection(sallyport))
  app.all('/api/auth/*splat', toNodeHandler(auth))
  app.get('/client.js', (_req, res) => void res.type('js').send(client))
  app.get('/', (_req, res) => {
    res.set('content-security-policy', "default-src 'none'; script-src 'self'; connect-src 'self'").send(PAGE)
  })
  await auth.api.signUpEmail({ body: ADA })
  const guesses = Array.from({ length: 11 }, async (_, at) => {
    const headers = { 'x-forwarded-for': `${at + 11}.${at}.7.9`, 'content-type': 'application/json', origin }
    const body = JSON.stringify({ email: ADA.email, password: `guess ${at}` })
    return (await fetch(`${origin}/api/auth/sign-in/email`, { method: 'POST', headers, body })).status
  })
  t.same((await Promise.all(guesses)).sort(), [...Array(10).fill(401), 403], 'the eleventh guess is challenged')

  const browser = await (await openReader(t))({ extraHTTPHeaders: { 'x-forwarded-for': '81.130.10.20' } })
  const page = await browser.newPage()
  page.on('pageerror', ({ message }) => void t.fail(message))
  await page.goto(origin)
  requests.length = 0
  const signIn = (password: string) =>
    page.evaluate(`client.signIn.email({ email: '${ADA.email}', password: '${password}' })`)
  t.match(await signIn('another guess'), { error: { status: 401, code: 'INVALID_EMAIL_OR_PASSWORD' } })
  const [attempt, solution] = ['/api/auth/sign-in/email', '/.sallyport/pass']
  t.same(requests.splice(0), [attempt, solution, attempt], 'the challenge is solved, and the request is repeated once')
  t.match(await signIn(ADA.password), { data: { user: { email: ADA.email } }, error: null })
  t.same(requests, [attempt], 'the pass holds')
  t.match(await page.evaluate('client.getSession()'), { data: { user: { email: ADA.email } } })
})
