// The one Sallyport of this site.
import { open } from 'sallyport'

const { DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

export const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})
