import t from 'tap'
import { type ConfigInput, doctor, open } from '../../src/open/index.ts'
import { DNS, of, soundConfig } from '../config/sound-config.ts'
import { madeConfig } from '../open/made-sources.ts'
import { temporaryFolder } from '../stores/processes.ts'

t.test('the list of throwaway mail is dated where rules ask for it, and missed where it is not loaded', async (t) => {
  const { data = {} } = madeConfig(await temporaryFolder(t), { 'throwaway-mail': 'mailinator.com\n' })
  const config = { ...(await soundConfig(t)), data }
  const found = async (more: ConfigInput) => {
    await (await open({ ...config, ...more })).close()
    return of(await doctor({ ...config, ...more }, { dns: DNS }), 'data').filter(({ found }) => /throwaway/.test(found))
  }
  t.strictSame(await found({}), [], 'no rule asks')
  const policy: ConfigInput['policy'] = { limits: ['account-guard'] }
  t.match(await found({ policy }), [{ state: 'ok', found: /^The list throwaway-mail is from \d{4}-\d\d-\d\d\.$/ }])
  const sources = { ...data.sources, 'throwaway-mail': { enabled: false } }
  t.match(await found({ policy, data: { ...data, sources } }), [
    { state: 'warn', found: /so account-throwaway never matches/, advice: /data\.sources\.throwaway-mail/ },
  ])
})
