'use client'

import Link from 'next/link'
import { useActionState } from 'react'
import { order } from './order'

export default function Page() {
  const [text, act, isPending] = useActionState(order, '')
  return (
    <main>
      <h1>First</h1>
      <form action={act}>
        <input name="word" defaultValue="grün" />
        <input name="file" type="file" />
        <button type="submit" disabled={isPending}>
          Order
        </button>
      </form>
      <output>{text}</output>
      <Link href="/second" prefetch={false}>
        On
      </Link>
    </main>
  )
}
