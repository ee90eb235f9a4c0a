import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@sallyport/engine'
import t from 'tap'
import { printable } from '../../src/cli/terminal/printable.ts'
import { run, workspace } from './command.ts'
import { observed } from './observed.ts'

/** A title, a color, an erased screen by C1, a turned line, a line of its own, a link, what is not seen, half a letter. */
const HOSTILE =
  '\u001b]0;owned\u0007\u001b[31m\u009b2J\u202eevil\u2066\n[2026] allow\r\u2028\u001b]8;;http://x\u0007\u200b\ufeff\ud800\u007f'
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

t.test('a control character is shown as an escape', async (t) => {
  t.equal(printable('a\u001b[31m\u009b\u202e\u{e0001}é😀\n'), 'a\\x1b[31m\\x9b\\u202e\\u{e0001}é😀\\x0a')
  t.notMatch(printable(HOSTILE), UNPRINTABLE)
})

t.test('no command prints a control character of a file', async (t) => {
  const { folder, config, write } = workspace(t)
  const file = join(folder, 'decisions.log')
  const log = createLog({ requests: 'all', addresses: 'full', sample: 1, format: 'plain', file })
  log.observe(observed('b-1', 'block', { path: '/admin', client: '192.0.2.7', status: 403 }))
  log.audit({ what: 'keys create', who: 'ada', details: { key: 'k1' } })
  await log.close()
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  // Every text and every name of a member, one after the other: a file may come from anywhere.
  const hostile = lines.flatMap((line) => {
    const entry: Record<string, unknown> = JSON.parse(line)
    const rest = { requestId: 'b-1', [HOSTILE]: HOSTILE, details: { [HOSTILE]: { [HOSTILE]: HOSTILE } } }
    const each = Object.entries(entry).map(([name, value]) => ({
      ...entry,
      [name]: typeof value === 'string' ? HOSTILE : value,
    }))
    return [...each, { ...entry, ...rest }].map((one) => JSON.stringify(one))
  })
  // Raw where JSON lets them be, escaped where not: both come to the same text.
  writeFileSync(file, `${hostile.join('\n')}\n${HOSTILE}\n`)
  const media = 'application/vnd.sallyport.evidence+json;version=1'
  const evidence = write('evidence.json', { media_type: media, [HOSTILE]: 1 })
  const headers = { 'user-agent': HOSTILE, [`x${HOSTILE}`]: '1' }
  const request = write('request.json', { ip: '192.0.2.1', method: 'GET', path: `/${HOSTILE}`, headers })
  const settings = write('settings.yaml', JSON.stringify({ listen: HOSTILE, [HOSTILE]: HOSTILE, mode: HOSTILE }))
  await run('keys', 'create', '--plan', 'free', '--name', HOSTILE, '--config', config)
  const wrong: string[] = []
  for (const argv of [
    ['accounts', 'list', '--config', config],
    ['logs', '--log', file],
    ['logs', '--log', file, '--json'],
    ['explain', '--request', 'b-1', '--log', file],
    ['explain', '--request', 'b-1', '--log', file, '--json'],
    ['explain', request, '--config', config],
    ['explain', request, '--config', config, '--json'],
    ['replay', file, '--policy', config, '--config', config],
    ['lookup', HOSTILE, '--config', config],
    ['lookup', HOSTILE, '--config', config, '--json'],
    ['evidence', 'verify', evidence],
    ['evidence', 'verify', evidence, '--json'],
    ['evidence', 'verify', join(folder, HOSTILE)],
    ['policy', 'test', file],
    ['config', 'check', file],
    ['config', 'check', join(folder, HOSTILE)],
    ['config', 'check', settings],
    ['config', 'show', '--config', settings],
    ['doctor', '--config', settings],
    ['proxy', '--config', settings],
    [HOSTILE],
  ]) {
    const { out, err } = await run(...argv)
    const plain = (out + err).replaceAll('\n', '')
    const text = ['1', '2', '22'].reduce((rest, style) => rest.replaceAll(`\u001b[${style}m`, ''), plain)
    if (text === '' || UNPRINTABLE.test(text)) wrong.push(`${argv.join(' ')}: ${JSON.stringify(out + err)}`)
  }
  t.same(wrong, [])
  const { out } = await run('logs', '--log', file)
  t.notMatch(out, /^\[2026\] allow/m, 'nor is a line added')
  const json = (await run('logs', '--log', file, '--json')).out.trimEnd().split('\n')
  t.same(JSON.parse(json.at(-1) as string).details, { [HOSTILE]: { [HOSTILE]: HOSTILE } }, 'and JSON loses nothing')
})
