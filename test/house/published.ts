import { publishedWorkspaces, type Workspace } from '../workspaces.ts'

/* The folders of what is published, each behind what it depends on. */
function ordered(rest: readonly Workspace[], done: readonly Workspace[] = []): readonly Workspace[] {
  if (rest.length === 0) return done
  const waiting = new Set(rest.map(({ manifest }) => manifest.name))
  const ready = rest.filter(
    ({ manifest }) =>
      !Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).some((name) => waiting.has(name)),
  )
  if (ready.length === 0) throw new Error('packages depend on each other in a circle')
  return ordered(
    rest.filter((workspace) => !ready.includes(workspace)),
    [...done, ...ready],
  )
}

for (const { folder } of ordered(publishedWorkspaces())) process.stdout.write(`${folder}\n`)
