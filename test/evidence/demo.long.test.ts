import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { BIN, started, writeIn } from '../started.ts'
import { ROOT } from '../workspaces.ts'
import { makeAuthority, NO_OPENSSL, serveAuthority } from './time-authority.ts'

const VERIFY = join(ROOT, 'examples/verify_crawls.sh')
const NO_JQ = spawnSync('jq', ['--version']).error === undefined ? false : 'jq is not installed'

t.test(
  'what a visitor of the demo reads against robots.txt is proven offline, with time from outside',
  { skip: NO_OPENSSL || NO_JQ, timeout: 300_000 },
  async (t) => {
    const authority = await makeAuthority(t)
    const { url: timestamps } = await serveAuthority(t, authority)
    const dataDir = t.testdir()
    const env = {
      SALLYPORT_LEDGER_TIMESTAMPS: timestamps,
      SALLYPORT_NET_ALLOW_PRIVATE: '127.0.0.0/8',
      SALLYPORT_LIMITS_EVENT_LOOP_DELAY: '1m',
    }
    const run = (program: string, ...args: readonly string[]) => {
      const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const
      const { status, stdout, stderr } = spawnSync(program, args, options)
      return { status, out: stdout, err: stderr }
    }
    const listening = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--data-dir', dataDir]
    const openDemo = async () => {
      const demo = await started(t, [BIN, 'demo', ...listening], env, 'with the token in')
      return { ...demo, url: /Listening on (\S+),/.exec(demo.err())?.[1] ?? '' }
    }
    const first = await openDemo()
    const page = await (await fetch(`${first.url}/?as=against`)).text()
    t.match(page, '<strong>allowed</strong>')
    // The minute of the visit is recorded when the demo ends.
    await first.stop()

    const { url } = await openDemo()
    const write = (name: string, text: string) => writeIn(dataDir, name, text)
    const keys = write('keys.json', await (await fetch(`${url}/v1/provenance/keys`)).text())
    const exporting = ['report', '--ai', '--evidence', 'OpenAI', '--from', '1h', '--to', '0s', '--data-dir', dataDir]
    let made = run(process.execPath, BIN, ...exporting)
    while (made.status === 0 && JSON.parse(made.out).anchors === undefined) {
      // This process runs the authority, so it may not block.
      await delay(500)
      made = run(process.execPath, BIN, ...exporting)
    }
    t.equal(made.status, 0, made.err)
    const evidence = write('openai.json', made.out)
    const root = authority.file('root.pem')
    const verified = run(process.execPath, BIN, 'evidence', 'verify', evidence, '--keys', keys, '--timestamp-ca', root)
    t.match(verified, {
      status: 0,
      out: /^time +pass +\S+ stamped the checkpoint at 20[\s\S]*^Proven: .* OpenAI requested:\n[\s\S]*^\/letters\/siege +disallowed /m,
    })
    t.match(run('bash', VERIFY, evidence, keys, root), {
      status: 0,
      out: /^stamped [\s\S]*^proven: records of OpenAI [\s\S]*^\/letters\/siege\tdisallowed\tallow\t1$/m,
    })
  },
)
