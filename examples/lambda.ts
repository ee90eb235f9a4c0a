// A Lambda handler with inspection and the /v1 API, for HTTP APIs of API Gateway and function URLs. The function's package holds
// DATA_DIR, as `sallyport data compile` made it; a function writes to /tmp alone.
// The handler routes by `rawPath` as the rules judged it: `/admin/../x` of the event is `/x` here.
import { type Inspected, inspection, type LambdaEvent, v1 } from '@sallyport/fetch/lambda'
import { open } from 'sallyport'

const { DATA_DIR = '/tmp/sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const site = async ({ sallyport }: Inspected<LambdaEvent>) => ({
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ action: sallyport?.action }),
})

export const handler = inspection(sallyport, v1(sallyport, site))
