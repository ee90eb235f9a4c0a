import { readFileSync } from 'node:fs'
import { DAY_MS } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { makeRequest } from '../browser.ts'
import { counted } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { scratch } from '../scratch.ts'

/** Sign-ups from the domains of another list, one a line, which `SALLYPORT_HELD_OUT` names, are blocked by the list of the release. */
export async function benchThrowaway(run: Run): Promise<void> {
  const path = process.env['SALLYPORT_HELD_OUT']
  if (path === undefined) return run.skip('no other list of throwaway mail is named (SALLYPORT_HELD_OUT)')
  const held = readFileSync(path, 'utf8').trim().split('\n')
  await scratch(async (dataDir) => {
    const policy = { preset: 'observe' as const, limits: ['account-guard' as const] }
    const sallyport = await open({ dataDir, data: { refresh: false, city: false }, log: { requests: 'off' }, policy })
    const { entries = 0, date = '' } = sallyport.sources().find(({ id }) => id === 'throwaway-mail') ?? {}
    const decided = { sallyport: sallyport.decide(makeRequest({ peer: '192.0.2.7' })) }
    let known = 0
    for (const domain of held) {
      const { mail } = await sallyport.accounts.assess(decided, { event: 'signup', identifier: `ada@${domain}` })
      if (mail.disposable) known++
    }
    await sallyport.close()
    const figures = [
      ['domains', '', entries],
      ['age', 'days', Math.floor((Date.now() - Date.parse(date)) / DAY_MS)],
      [`known of ${held.length}`, '%', (100 * known) / held.length],
    ] as const
    run.table({
      title: 'Throwaway mail',
      figures: figures.map(([what, unit, value]) => ({ case: 'throwaway-mail', what, unit, value: counted(value) })),
    })
  })
}
