import type { Notifier } from './event.ts'

/** Raises `stale` when what a publisher has is refused, and says when it is used again. */
export function raisesBundle({ raise }: Pick<Notifier, 'raise'>): (reason: string | undefined) => void {
  return (reason) => {
    const about = 'published'
    if (reason !== undefined) raise({ kind: 'stale', about, text: reason })
    else raise({ kind: 'stale', about, over: true, text: 'The data that data.from names is used again.' })
  }
}
