import { type ConfigInput, open, type Sallyport } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'

/** The city file puts this line of Frontier in Carrollton, Texas. */
export const TEXAN = '47.184.10.20'
export const CARRIER = '172.56.1.1'

export async function openService(t: Test, config: ConfigInput): Promise<Sallyport> {
  const sallyport = await open({ dataDir: DATA_DIR, data: { refresh: false }, ...config }, { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  return sallyport
}

/** Tests a service with the city file; the test is skipped where none is installed. */
export function testCities(
  name: string,
  config: ConfigInput,
  check: (t: Test, sallyport: Sallyport) => Promise<void>,
): void {
  void t.test(name, async (t) => {
    const sallyport = await openService(t, config)
    const hasCities = sallyport.sources().some(({ id, state }) => id === 'dbip-city-v4' && state === 'loaded')
    if (hasCities) await check(t, sallyport)
    else t.pass('no city file is installed', { skip: true })
  })
}

export function decide(sallyport: Pick<Sallyport, 'decide'>, peer: string) {
  return sallyport.decide({ peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] })
}
