import { AS_READER, type Scene } from './scene.ts'

interface Period {
  readonly requests: number
}

/** Asks for the day in short until it is what is wanted: counts are written every five seconds, and kept for as long. */
export async function awaitToday({ adminUrl }: Scene, wanted: (now: Period | null, before: Period | null) => boolean) {
  for (;;) {
    const response = await fetch(`${adminUrl}/console/api/today`, { headers: AS_READER })
    const today = (await response.json()) as { readonly now: Period | null; readonly before: Period | null }
    if (wanted(today.now, today.before)) return today
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}
