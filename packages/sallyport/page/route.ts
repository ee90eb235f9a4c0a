import { signal } from '@preact/signals'

/** Identifies a place in the console: the view, and its query. */
export interface Place {
  readonly view: string
  readonly query: URLSearchParams
}

export const place = signal<Place>(read())

export function followPlace(): void {
  addEventListener('hashchange', () => {
    place.value = read()
  })
}

/** Returns the link to a view; empty texts are left out. */
export function linkTo(view: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  return `#/${view}${text === '' ? '' : `?${text}`}`
}

export function goTo(view: string, query: Readonly<Record<string, string>> = {}): void {
  location.hash = linkTo(view, query)
}

/** Changes the query of the current place, without an entry in the history. */
export function askHere(query: Readonly<Record<string, string>>): void {
  location.replace(linkTo(place.value.view, query))
}

function read(): Place {
  const [view = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2)
  return { view: view === '' ? 'live' : view, query: new URLSearchParams(query) }
}
