import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

function runCases(folder: string) {
  return spawnSync(process.execPath, [join(import.meta.dirname, 'run.js'), folder], { encoding: 'utf8' })
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const REQUEST = { client: '73.162.10.20', 'user-agent': FIREFOX, headers: ['Accept: text/html', 'Accept-Language: de'] }

t.test('a case is held against its own words, and one that differs is seen', async (t) => {
  const folder = t.testdir({
    'a-agents.txt': `person\t${FIREFOX}\nprogram\tcurl/8.5.0\nperson\tcurl/8.5.0\n`,
    'b-paths.txt': '/shop\t200 same\n/shop/../x\t200 same\n',
    'b.expected.txt': 'Forwarded as it is under paths: strict.',
    'c-right.json': JSON.stringify({ ...REQUEST, expected: { class: 'human', 'action (observe)': 'not block' } }),
    'c-wrong.json': JSON.stringify({ ...REQUEST, expected: { class: 'unverified_bot', weather: 'fair' } }),
    'd-odd.bin': 'nothing that anybody knows',
  })
  const { status, stdout } = runCases(folder)
  t.equal(status, 1)
  const found = stdout.split('\n').slice(1, -2)
  const verdicts = found.map((line) => line.split(/ {2,}/)).map(([ok, input]) => `${ok} ${input?.split(':', 1)[0]}`)
  t.same(verdicts, [
    'ok a-agents.txt',
    'ok a-agents.txt',
    'NOT OK a-agents.txt',
    'ok b-paths.txt',
    'NOT OK b-paths.txt',
    'ok c-right.json',
    'ok c-right.json',
    'NOT OK c-wrong.json',
    'NOT OK c-wrong.json',
    'NOT OK d-odd.bin',
  ])
  t.match(stdout, /^5 as expected, 5 not, 0 not run$/m)
})

t.test('a folder that is not there is said', async (t) => {
  const { status, stdout } = runCases(join(t.testdir(), 'none'))
  t.equal(status, 0)
  t.match(stdout, /^There are no cases: .*none does not exist\. Nothing was run\.$/m)
})
