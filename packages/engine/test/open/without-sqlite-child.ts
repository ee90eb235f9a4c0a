import { parsePrefix, SallyportError } from '@sallyport/core'
import { type ConfigInput, open } from '../../src/open/index.ts'
import { callApi, requestFrom } from './requests.ts'

// Opens a service of the options that the parent gives, uses what would be kept, and sends what came of it.
const notices: string[] = []
const faults: string[] = []
const rejected = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof SallyportError ? `${error.code}: ${error.message}` : String(error)),
  )

async function use(options: ConfigInput) {
  const sallyport = await open(options, {
    onNotice: (code, message) => notices.push(`${code} ${message}`),
    onFault: (error) => faults.push(String(error)),
  })
  const decided = () => sallyport.decide(requestFrom('185.220.101.10'))
  try {
    const first = await callApi(sallyport, '/v1/demo/192.0.2.1')
    const second = await callApi(sallyport, '/v1/demo/192.0.2.1')
    return {
      network: decided().inspection.network.verdict.classification,
      remaining: [first, second].map((answer) => Number(answer.headers['X-RateLimit-Remaining'])),
      accounts: await sallyport.accounts.listAccounts(),
      key: await rejected(sallyport.keyring.issue({ plan: 'free' })),
      override: await rejected(sallyport.overrides.set(parsePrefix('5.9.10.0/24') as never, { networkClass: 'vpn' })),
      attested: await rejected(sallyport.provenance.attestDecision(decided(), 'US')),
    }
  } finally {
    await sallyport.close()
  }
}

const [options = '{}'] = process.argv.slice(2)
const outcome = await use(JSON.parse(options)).catch((error: unknown) => ({ refused: String(error) }))
process.send?.({ ...outcome, notices, faults })
