// Inspection in a Next.js site (16 or newer; before, this file was the middleware.ts of the Node.js runtime).
import { guard } from '@sallyport/fetch'
import { type NextRequest, NextResponse } from 'next/server'
import { FRONT, sallyport } from './sallyport'

export async function proxy(request: NextRequest) {
  const { response, headers, end } = await guard(await sallyport(), request, FRONT)
  return response ?? end(NextResponse.next({ request: { headers } }))
}
