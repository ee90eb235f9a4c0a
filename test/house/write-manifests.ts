import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedWorkspaces, ROOT, SHARED_FILES, sharedFields } from '../workspaces.ts'

/* For a new package: fills in what all manifests have alike, and copies the licence beside it. */
for (const { folder, manifest } of publishedWorkspaces()) {
  const { name, version, description, keywords = ['sallyport'], files = [], ...rest } = manifest
  const shared = sharedFields(folder)
  const own = Object.fromEntries(Object.entries(rest).filter(([field]) => !(field in shared)))
  const sent = [...new Set([...SHARED_FILES.filter((file) => file !== 'LICENSE'), ...files])]
  const text = JSON.stringify({ name, version, description, keywords, ...shared, ...own, files: sent }, null, 2)
  writeFileSync(join(ROOT, folder, 'package.json'), `${text}\n`)
  for (const file of SHARED_FILES) copyFileSync(join(ROOT, file), join(ROOT, folder, file))
}

const FOLDERS = new Map(publishedWorkspaces().map(({ folder, manifest }) => [manifest.name, folder]))

for (const { folder, manifest } of publishedWorkspaces()) {
  if (!folder.startsWith('adapters/') || existsSync(join(ROOT, folder, 'tsconfig.json'))) continue
  const references = Object.keys(manifest.dependencies ?? {}).flatMap((name) => {
    const path = FOLDERS.get(name)
    return path === undefined ? [] : { path: `../../${path}` }
  })
  const config = { extends: '../../tsconfig.json', include: ['src', 'test'], references }
  writeFileSync(join(ROOT, folder, 'tsconfig.json'), `${JSON.stringify(config, null, 2)}\n`)
  for (const file of ['tsconfig.json', 'test/tsconfig.json']) addReference(join(ROOT, file), folder)
}

/** Adds a reference after the last adapter's reference, in the same form. */
function addReference(file: string, folder: string): void {
  const text = readFileSync(file, 'utf8')
  const last = [...text.matchAll(/,\s*\{\s*"path": "(?:\.\.\/)?adapters\/\w+"\s*\}/g)].at(-1)
  if (last === undefined) throw new Error(`${file} refers to no adapter`)
  const end = last.index + last[0].length
  writeFileSync(file, text.slice(0, end) + last[0].replace(/adapters\/\w+/, folder) + text.slice(end))
}
