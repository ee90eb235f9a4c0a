import { headers } from 'next/headers'

export default async function Page() {
  return <h1>Second, {(await headers()).get('host') ? 'rendered' : ''}</h1>
}
