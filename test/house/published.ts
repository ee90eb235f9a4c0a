import { publishedWorkspaces } from '../workspaces.ts'

/* Prints the folders of what is published, each behind what it depends on. */
const rest = new Map(publishedWorkspaces().map(({ folder, manifest }) => [manifest.name, { folder, manifest }]))
while (rest.size > 0) {
  const ready = [...rest.values()].filter(({ manifest: { dependencies, optionalDependencies } }) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).every((name) => !rest.has(name)),
  )
  if (ready.length === 0) throw new Error('packages depend on each other in a circle')
  for (const { folder, manifest } of ready) {
    process.stdout.write(`${folder}\n`)
    rest.delete(manifest.name)
  }
}
