import { join } from 'node:path'
import { build } from 'esbuild'

const TABLE = join(import.meta.dirname, '../../../page/views/index.ts')

/** The ids of the page's own table of views, hidden ones too: a new view is tested by being in it. */
export async function viewIds(): Promise<readonly string[]> {
  const { outputFiles } = await build({
    entryPoints: [TABLE],
    bundle: true,
    format: 'esm',
    write: false,
    // Their code is for a browser, and is asked for by none of the ids.
    external: ['./*.tsx'],
  })
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  const { VIEWS } = await import(`data:text/javascript;base64,${code}`)
  return VIEWS.map(({ id }: { readonly id: string }) => id)
}
