import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfigFrom, readPolicyTests } from '@sallyport/engine'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { ROOT } from '../workspaces.ts'
import { docstringFences, documents, type Fence, fencesIn, readFences } from './fences.ts'

/* The code in documents must be accepted: programs by the compiler, configurations by the schema. */
const FENCES = [...readFences(documents()), ...docstringFences()]

/** Lists programs. A block that imports nothing goes on from the one before it in its document. */
function listPrograms(fences: readonly Fence[]): readonly Fence[] {
  let before: Fence | undefined
  return fences
    .filter(({ language }) => language === 'ts')
    .map((fence) => {
      const isOfFile = before?.place.split(':')[0] === fence.place.split(':')[0]
      if (isOfFile && !/^import /m.test(fence.text)) return { ...fence, text: `${before?.text}\n${fence.text}` }
      before = fence
      return fence
    })
}

/** The faults that the compiler finds in each program, as a customer with strict settings compiles it. */
function listFaults(t: Test, fences: readonly Fence[]): readonly string[] {
  // In a folder from which the compiler finds the packages.
  const folder = mkdtempSync(join(ROOT, 'test/dist/programs-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const files = fences.map(({ text }, index) => {
    const file = join(folder, `${index}.ts`)
    writeFileSync(file, `${text}\nexport {}\n`)
    return file
  })
  const language = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, types: ['node'] }
  const options = { ...language, strict: true, noEmit: true, skipLibCheck: true }
  return ts.getPreEmitDiagnostics(ts.createProgram(files, options)).map(({ file, start = 0, messageText }) => {
    const fence = file && fences[files.indexOf(file.fileName)]
    const line = file?.getLineAndCharacterOfPosition(start).line ?? 0
    return `${fence?.place} +${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

t.test('blocks are found, and faults in them', async (t) => {
  const fences = fencesIn('x.md', 'text\n\n```ts\nconst a: string = 1\n```\n\n```yaml\na: 1\n```\n')
  t.same(fences, [
    { place: 'x.md:3', language: 'ts', text: 'const a: string = 1\n' },
    { place: 'x.md:7', language: 'yaml', text: 'a: 1\n' },
  ])
  t.same(listFaults(t, fences.slice(0, 1)), ["x.md:3 +0: Type 'number' is not assignable to type 'string'."])
})

t.test('every program in a document or a docstring compiles', async (t) => {
  const programs = listPrograms(FENCES)
  t.ok(programs.length > 18)
  t.same(listFaults(t, programs), [])
})

t.test('every configuration in a document or a docstring is usable', async (t) => {
  const configurations = FENCES.filter(({ language }) => language === 'yaml')
  t.ok(configurations.length > 3)
  const folder = t.testdir()
  for (const [index, { place, text }] of configurations.entries()) {
    const file = join(folder, `${index}.yaml`)
    writeFileSync(join(folder, 'list.txt'), '')
    writeFileSync(join(folder, 'secret'), 'abcdefgh'.repeat(5))
    // Files of lists and secrets are there, or the configuration is not usable.
    const placed = text
      .replace(/file: \w+\.txt/g, `file: ${join(folder, 'list.txt')}`)
      .replace(/"file:\/[\w./-]+"/g, `"file:${join(folder, 'secret')}"`)
    writeFileSync(file, placed)
    const env = Object.fromEntries([...text.matchAll(/\$\{(\w{1,40})\}/g)].map(([, name]) => [name, 'x'.repeat(40)]))
    t.doesNotThrow(() => (/^tests:/m.test(text) ? readPolicyTests(file) : readConfigFrom({ file, env })), place)
  }
})
