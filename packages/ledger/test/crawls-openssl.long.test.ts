import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { verifyCrawls } from '../src/verify/index.ts'
import { recorded } from './made-crawls.ts'

const SCRIPT = fileURLToPath(new URL('../../../../examples/verify_crawls.sh', import.meta.url))
const isInstalled = (program: string) => spawnSync(program, ['--version']).error === undefined
const MISSING = ['bash', 'jq', 'openssl', 'od'].find((program) => !isInstalled(program))

const ENOUGH = { skip: MISSING ? `${MISSING} is not installed` : false }

t.test('OpenSSL alone verifies what our verifier does', ENOUGH, async (t) => {
  const { build, keys } = await recorded(11)
  const folder = t.testdir({ keys: JSON.stringify(keys) })
  const verify = (file: object) => {
    const evidence = join(folder, 'evidence')
    writeFileSync(evidence, JSON.stringify(file))
    const ended = spawnSync('bash', [SCRIPT, evidence, join(folder, 'keys')], { encoding: 'utf8' })
    t.equal(ended.status === 0, verifyCrawls(file, keys).isProven, ended.stderr)
    return ended
  }
  // The span ends within the log, at its end, and where the tree of the records is whole.
  for (const [from, to] of [
    [5, 9],
    [0, 7],
    [2, 11],
  ] as const) {
    const minutes = to - from
    const rows = `/articles/*\tallowed\tallow\t${3 * minutes}\n/private/*\tdisallowed\tblock\t${minutes}\n`
    const stdout = `proven: records of OpenAI in sallyport/0123456789abcdef/c/openai\n${rows}`
    t.match(verify(await build(from, to)), { status: 0, stdout })
  }
  const file = await build(3, 9)
  const { records, checkpoint, tree, documents } = file
  const forged = records.map((record, at) => (at === 2 ? record.replace('articles', 'articlez') : record))
  const other = await (await recorded(11, { operator: 'OpenAI', leftOut: 1 })).build(3, 9)
  for (const [change, reason] of [
    [{ records: forged }, /does not cover the records/],
    [{ records: records.slice(0, -1) }, /does not cover the records/],
    [{ tree: { ...tree, before: [] } }, /incomplete/],
    [{ tree: { ...tree, after: tree.after.slice(1) } }, /does not cover the records/],
    [{ checkpoint: checkpoint.replace('\n11\n', '\n10\n') }, /none of the keys signed/],
    [{ checkpoint: other.checkpoint }, /does not cover the records/],
    [{ documents: documents.map((document) => ({ ...document, text: 'User-agent: *' })) }, /was changed/],
    [{ documents: [] }, /is missing from the file/],
  ] as const)
    t.match(verify({ ...file, ...change }), { status: 1, stderr: reason })
})
