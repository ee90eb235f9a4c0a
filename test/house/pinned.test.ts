import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { ROOT } from '../workspaces.ts'

/* A tag can be moved, a digest cannot: whatever runs in CI, or comes into an image, is named by its digest, with the tag beside it. */
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const WORKFLOWS = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`)
const INSTALLED = /npm (?:ci|install|run|exec)|npx|docker/
const IMAGE = /^\S+:[\w.-]+@sha256:[0-9a-f]{64}$/

t.test('actions are pinned by commit', async (t) => {
  for (const file of WORKFLOWS) {
    for (const [line = '', used = ''] of read(file).matchAll(/^\s*(?:- )?uses: (\S+).*$/gm)) {
      if (!used.startsWith('./')) t.match(line, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, `${file}: ${used}`)
    }
  }
})

t.test('images are pinned by digest', async (t) => {
  const found = [
    ...WORKFLOWS.flatMap((file) => [...read(file).matchAll(/^\s*(?:container|image): (\S+)$/gm)]),
    ...read('examples/docker/compose.yaml').matchAll(/^\s*image: (\S+)$/gm),
    ...read('examples/docker/Dockerfile').matchAll(/^FROM (\S+:\S+)/gm),
  ].map(([, image]) => image)
  t.ok(found.length >= 6)
  for (const image of found) t.match(image, IMAGE)
})

t.test('the job that publishes waits for CI and an approval, and runs nothing that was installed', async (t) => {
  const { permissions, jobs } = parse(read('.github/workflows/release.yml'))
  t.same(permissions, {}, 'a job has what it names')
  t.match(jobs, {
    ci: { uses: './.github/workflows/ci.yml', with: { all: true } },
    build: { needs: 'ci', permissions: { contents: 'read' } },
    publish: { needs: 'build', environment: 'release' },
  })
  t.match(runs(jobs.build), /^npm ci --ignore-scripts /m)
  t.notMatch(runs(jobs.publish), INSTALLED)
})

t.test('what fetches and installs new data may write nothing, and what proposes it runs nothing of it', async (t) => {
  const { permissions, jobs } = parse(read('.github/workflows/data.yml'))
  t.same(permissions, {})
  t.same(jobs.refresh.permissions, { contents: 'read' })
  t.match(runs(jobs.refresh), /^npm ci --ignore-scripts [\s\S]*^npm run data:refresh$/m)
  t.notMatch(runs(jobs.propose), INSTALLED)
})

function runs({ steps }: { steps: readonly { readonly run?: string | undefined }[] }): string {
  return steps.map(({ run = '' }) => run).join('\n')
}
