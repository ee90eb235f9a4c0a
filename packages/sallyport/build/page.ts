import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { worldShapes } from './world.ts'

const ROOM = join(import.meta.dirname, '../..')
const PAGE = join(ROOM, 'page')

/** Bundles the page into `folder`; nothing in the bundle loads from another origin. */
export async function buildPage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: ROOM,
    entryPoints: { main: join(PAGE, 'main.tsx') },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    logLevel: 'warning',
  })
  const foreign = Object.keys(metafile.inputs).filter((path) => !/^page\/|node_modules\//.test(path))
  if (foreign.length > 0) throw new Error(`Code of the server is in the page: ${foreign.join(', ')}`)
  const [script, output] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'page/main.tsx') ?? []
  if (script === undefined || output?.cssBundle === undefined) throw new Error('The page has no script or no style.')
  const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8')
    .replace('main.js', fileName(script))
    .replace('main.css', fileName(output.cssBundle))
  writeFileSync(join(folder, 'index.html'), html)
  writeFileSync(join(folder, 'licences.txt'), collectLicences(Object.keys(metafile.inputs)))
  writeFileSync(join(folder, 'icon.svg'), readFileSync(join(PAGE, 'icon.svg')))
  writeFileSync(join(folder, 'world.json'), JSON.stringify(worldShapes()))
}

/** Collects the licences of the packages in a bundle, which require their text to be shipped. */
function collectLicences(inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
  return [...folders, 'node_modules/world-atlas']
    .map((folder) => ({ name: folder.replace(/^.*node_modules\//, ''), path: findPackage(folder) }))
    .map(({ name, path }) => `${name}\n\n${licenceIn(path)}`)
    .sort()
    .join('\n\n---\n\n')
}

function findPackage(folder: string): string {
  const own = join(ROOM, folder)
  return existsSync(own) ? own : join(ROOM, '../..', folder)
}

function licenceIn(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim()
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `${license}, ${typeof author === 'string' ? author : (author?.name ?? '')}`
}

if (process.argv[1] === import.meta.filename) await buildPage(join(ROOM, 'dist/page'))
