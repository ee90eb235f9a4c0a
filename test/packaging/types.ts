/* The same programs as their authors type them, compiled with every check on, those of libraries too. */
export const TYPED: Readonly<Record<string, string>> = {
  'express.ts': `
import { guardUpgrade, inspection, v1 } from '@sallyport/express'
import express from 'express'
import { type Decision, open } from 'sallyport'

const sallyport = await open({ policy: { preset: 'observe' } })
const app = express()
app.use(inspection(sallyport), v1(sallyport))
app.get('/', (req, res) => {
  const decision: Decision | undefined = req.sallyport
  res.json(decision)
})
guardUpgrade(app.listen(0), sallyport)
`,
  'koa.ts': `
import { inspection, v1 } from '@sallyport/koa'
import Koa from 'koa'
import { type Decision, open } from 'sallyport'

const sallyport = await open()
const app = new Koa()
app.use(inspection(sallyport))
app.use(v1(sallyport, { base: '/detect' }))
app.use((ctx) => {
  const decision: Decision | undefined = ctx.state.sallyport
  // @ts-expect-error: a decision, and not anything
  const other: number = ctx.state.sallyport
  ctx.body = [decision, other]
})
`,
  'hono.ts': `
import { inspection, v1 } from '@sallyport/fetch/hono'
import { Hono } from 'hono'
import { type Decision, open } from 'sallyport'

const sallyport = await open()
const app = new Hono()
app.use(inspection(sallyport))
app.use(v1(sallyport))
app.get('/', (c) => {
  const decision: Decision | undefined = c.get('sallyport')
  // @ts-expect-error: a decision, and not anything
  const other: number = c.get('sallyport')
  return c.json([decision, other])
})
`,
  'fastify.ts': `
import { inspection, v1 } from '@sallyport/fastify'
import Fastify from 'fastify'
import { type Decision, open } from 'sallyport'

const sallyport = await open()
const fastify = Fastify()
await fastify.register(inspection, { sallyport })
await fastify.register(v1, { sallyport })
fastify.get('/', async (request) => {
  const decision: Decision | null = request.sallyport
  return decision
})
`,
  'http.ts': `
import { createServer } from 'node:http'
import { listener } from '@sallyport/node'
import { openProxy } from '@sallyport/proxy'
import { open } from 'sallyport'

const sallyport = await open()
createServer(listener(sallyport, (_req, res) => void res.end('hello')))
await openProxy(sallyport, { upstream: 'http://127.0.0.1:3000' })
`,
  'better-auth.ts': `
import { betterAuth } from 'better-auth'
import { open } from 'sallyport'
import { guardAccounts } from 'sallyport/better-auth'

const sallyport = await open({ policy: { limits: ['account-guard'] } })
export const auth = betterAuth({ plugins: [guardAccounts(sallyport)] })
`,
}

const BUNDLER = '--module esnext --moduleResolution bundler'

/** Customers compile with Node's own modules or with a bundler. */
export const SETTINGS: Readonly<Record<string, string>> = {
  nodenext: '--module nodenext',
  bundler: BUNDLER,
  // As Next.js sets up a project that had no TypeScript.
  'a bundler, without strict': `${BUNDLER} --skipLibCheck --strict false --exactOptionalPropertyTypes false`,
}
