import { json, type RequestHandler } from '@sveltejs/kit'

export const GET: RequestHandler = ({ locals }) => {
  const { action, inspection } = locals.sallyport ?? {}
  return json({ action, networkClass: inspection?.network.verdict.classification })
}
