import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedWorkspaces, ROOT, SHARED_FILES, sharedFields } from '../workspaces.ts'

/* For a new package: fills in what all manifests have alike, and copies the licence beside it. */
const KEYWORDS = ['sallyport']

for (const { folder, manifest } of publishedWorkspaces()) {
  const { name, version, description, keywords = KEYWORDS, files = [], ...rest } = manifest
  const shared = sharedFields(folder)
  const own = Object.fromEntries(Object.entries(rest).filter(([field]) => !(field in shared)))
  const sent = [...new Set([...SHARED_FILES.filter((file) => file !== 'LICENSE'), ...files])]
  const text = JSON.stringify({ name, version, description, keywords, ...shared, ...own, files: sent }, null, 2)
  writeFileSync(join(ROOT, folder, 'package.json'), `${text}\n`)
  for (const file of SHARED_FILES) copyFileSync(join(ROOT, file), join(ROOT, folder, file))
}
