import { row } from './route.ts'

/** The visitor's role, for the page. */
export const SESSION_ROWS = [
  row({
    method: 'GET',
    path: 'session',
    role: 'anyone',
    answer: ({ visitor }, { hooks, sallyport }) => ({
      role: visitor.role ?? null,
      by: visitor.by,
      until: visitor.until ?? null,
      maySave: hooks.savePolicy !== undefined,
      url: visitor.role === undefined ? null : (hooks.url?.() ?? null),
      api: visitor.role === undefined ? null : sallyport.config.api,
    }),
  }),
]
