import type { ComponentType } from 'preact'

/** A view of the console. */
export interface View {
  readonly id: string
  readonly title: string
  load(): Promise<ComponentType>
}

export const VIEWS: readonly View[] = [
  { id: 'health', title: 'Health', load: async () => (await import('./health.tsx')).Health },
]
