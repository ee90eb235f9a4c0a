import type { ComponentType } from 'preact'

/** Describes a view of the console. */
export interface View {
  readonly id: string
  readonly title: string
  /** Whether the view is reached by links alone. */
  readonly isHidden?: boolean | undefined
  load(): Promise<ComponentType>
}

export const VIEWS: readonly View[] = [
  { id: 'live', title: 'Live', load: async () => (await import('./live.tsx')).Live },
  { id: 'report', title: 'Report', load: async () => (await import('./report.tsx')).Report },
  { id: 'inspect', title: 'Inspect', load: async () => (await import('./inspect.tsx')).Inspect },
  { id: 'policy', title: 'Policy', load: async () => (await import('./policy.tsx')).Policy },
  { id: 'crawlers', title: 'Crawlers', load: async () => (await import('./crawlers.tsx')).Crawlers },
  { id: 'directory', title: 'Directory', load: async () => (await import('./directory.tsx')).Directory },
  { id: 'ledger', title: 'Ledger', load: async () => (await import('./ledger.tsx')).Ledger },
  { id: 'data', title: 'Data', load: async () => (await import('./data.tsx')).Data },
  { id: 'accounts', title: 'Accounts', load: async () => (await import('./accounts.tsx')).Accounts },
  { id: 'risk', title: 'Accounts at risk', load: async () => (await import('./risk.tsx')).Risk },
  { id: 'bans', title: 'Bans', load: async () => (await import('./bans.tsx')).Bans },
  { id: 'lists', title: 'Lists', load: async () => (await import('./lists.tsx')).Lists },
  { id: 'audit', title: 'Audit', load: async () => (await import('./audit.tsx')).Audit },
  { id: 'health', title: 'Health', load: async () => (await import('./health.tsx')).Health },
  { id: 'request', title: 'One request', isHidden: true, load: async () => (await import('./request.tsx')).OneRequest },
]
