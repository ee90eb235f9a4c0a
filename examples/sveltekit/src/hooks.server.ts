// Inspection and the /v1 API in a SvelteKit site on Node.
import { guard, v1 } from '@sallyport/fetch'
import type { Handle, ServerInit } from '@sveltejs/kit'
import { open, type Sallyport } from 'sallyport'

const { DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env
let sallyport: Sallyport

export const init: ServerInit = async () => {
  sallyport = await open({
    dataDir: DATA_DIR,
    data: { refresh: REFRESH === 'true' },
    trustProxy: ['loopback'],
    policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
  })
  process.once('sveltekit:shutdown', () => sallyport.close())
}

export const handle: Handle = async ({ event, resolve }) => {
  const { request, locals } = event
  const place = { address: event.getClientAddress() }
  const { decision, response, end } = await guard(sallyport, request, place)
  locals.sallyport = decision
  return response ?? (await v1(sallyport, request, place)) ?? end(await resolve(event))
}
