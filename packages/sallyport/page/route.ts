import { signal } from '@preact/signals'

/** A place in the console: the view, and its question. */
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

/** The link to a view. */
export function linkTo(view: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString()
  return `#/${view}${text === '' ? '' : `?${text}`}`
}

export function goTo(view: string, query: Readonly<Record<string, string>> = {}): void {
  location.hash = linkTo(view, query)
}

/** The same place with another question, which the way back does not stop at. */
export function askHere(query: Readonly<Record<string, string>>): void {
  location.replace(linkTo(place.value.view, query))
}

function read(): Place {
  const [view = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2)
  return { view: view === '' ? 'live' : view, query: new URLSearchParams(query) }
}
