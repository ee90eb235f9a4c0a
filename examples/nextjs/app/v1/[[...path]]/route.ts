// The /v1 API as a route handler.
import { v1 } from '@sallyport/fetch'
import { FRONT, sallyport } from '../../../sallyport'

async function answer(request: Request) {
  return (await v1(await sallyport(), request, FRONT)) ?? new Response(null, { status: 404 })
}

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
}
