import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { savePolicy } from '../../src/cli/service/save-policy.ts'

t.test('a policy is written into what a link leads to, or nothing is changed', async (t) => {
  const folder = t.testdir({ real: {} })
  const [target, link] = [join(folder, 'real', 'sallyport.yaml'), join(folder, 'sallyport.yaml')]
  writeFileSync(target, '# ours\nmode: monitor\n', { mode: 0o640 })
  symlinkSync('real/sallyport.yaml', link)
  await savePolicy(
    link,
    async (before) => `${before}policy: { rules: [] }\n`,
    async () => {},
  )
  t.ok(lstatSync(link).isSymbolicLink())
  t.equal(lstatSync(target).mode & 0o777, 0o640)
  const saved = readFileSync(target, 'utf8')
  t.match(saved, /# ours\nmode: monitor\npolicy:/)
  await t.rejects(
    savePolicy(
      link,
      async () => 'policy: { preset: observe }\n',
      async () => {
        throw new Error('refused')
      },
    ),
    { message: 'refused' },
  )
  t.equal(readFileSync(target, 'utf8'), saved)
})

t.test('a file that cannot be written is named, with nothing left beside it', async (t) => {
  // A draft beside it has a longer name than the system takes.
  const file = join(t.testdir(), 'a'.repeat(253))
  writeFileSync(file, 'mode: monitor\n')
  const saving = savePolicy(
    file,
    async (before) => `${before}policy: { rules: [] }\n`,
    async () => void t.fail('nothing is taken over'),
  )
  await t.rejects(saving, {
    code: 'invalid_request',
    message: /Nothing was saved, because .* cannot be written \(ENAMETOOLONG\)/,
  })
  t.equal(readFileSync(file, 'utf8'), 'mode: monitor\n')
})
