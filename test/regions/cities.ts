import { type ConfigInput, open, type Sallyport } from '@sallyport/engine'
import type { Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'

/** The city file puts this line of Frontier in Carrollton, Texas. */
export const TEXAN = '47.184.10.20'
export const CARRIER = '172.56.1.1'

export async function openService(t: Test, config: ConfigInput): Promise<Sallyport> {
  const sallyport = await open({ dataDir: DATA_DIR, data: { refresh: false }, ...config }, { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  return sallyport
}

/** Opens a service, and skips the test where no city file is installed. */
export async function openCities(t: Test, config: ConfigInput = {}): Promise<Sallyport | undefined> {
  const sallyport = await openService(t, config)
  const hasCities = sallyport.sources().some(({ id, state }) => id === 'dbip-city-v4' && state === 'loaded')
  if (!hasCities) t.pass('no city file is installed', { skip: true })
  return hasCities ? sallyport : undefined
}

export function decide(sallyport: Pick<Sallyport, 'decide'>, peer: string) {
  return sallyport.decide({ peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] })
}
