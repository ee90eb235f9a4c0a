// A Lambda handler with inspection and the /v1 API, for HTTP APIs of API Gateway and function URLs (payload format 2.0). The
// function's package holds DATA_DIR, as `sallyport data compile` made it; a function writes to /tmp alone.
import { inspection, open, v1 } from '@sallyport/fetch/hono'
import { type Context, Hono } from 'hono'
import { handle } from 'hono/aws-lambda'

const { DATA_DIR = '/tmp/sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

/** The visitor, as API Gateway saw the socket. */
const address = (c: Context): string => c.env.requestContext.http.sourceIp

const app = new Hono()
app.use(inspection(sallyport, { address }))
app.use(v1(sallyport, { address }))
app.get('/', (c) => c.json({ action: c.get('sallyport')?.action }))

export const handler = handle(app)
