/** Describes the part of the OpenAPI document that the API itself reads. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary: string }>>>>
}

/** Loads the document that `npm run openapi` writes, with the paths that are served. */
export async function loadDocument(routes: readonly { readonly path: string }[]): Promise<ApiDocument> {
  const { default: document } = await import('../../openapi.json', { with: { type: 'json' } })
  const served = new Set(routes.map(({ path }) => path))
  const paths: ApiDocument['paths'] = document.paths
  return { ...document, paths: Object.fromEntries(Object.entries(paths).filter(([path]) => served.has(path))) }
}
