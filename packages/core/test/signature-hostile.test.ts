import t from 'tap'
import { MAX_COMPONENTS } from '../src/agent/signature/judged.ts'
import { readSignatures, type SentSignature, type SignedRequest } from '../src/agent/signature/message.ts'
import { signatureBase } from '../src/agent/signature/signature-base.ts'
import { createVerifier, makeRequest, signedFields } from './signed-requests.ts'

t.test('nobody is accused by the query of a described request, which is not known', async (t) => {
  const { verifier } = createVerifier()
  const fields = signedFields({ components: '"@authority" "@query" "signature-agent"' })
  t.match(verifier.look(makeRequest(fields)), { outcome: 'verified' })
  t.match(verifier.lookAtDescribed(fields), { outcome: 'unverified', forged: false })
})

t.test('nobody is accused by a scheme that a trusted proxy does not name', async (t) => {
  const { verifier } = createVerifier()
  const fields = signedFields({ components: '"@authority" "@scheme" "signature-agent"' })
  const behind = (scheme: string) =>
    verifier.look({ ...makeRequest([...fields, 'X-Forwarded-Proto', scheme]), scheme: 'http', trusted: true })
  for (const scheme of ['HTTPS', 'https, http', 'wss']) t.match(behind(scheme), { outcome: 'verified' }, scheme)
  for (const scheme of ['gopher', 'constructor', '']) {
    t.match(behind(scheme), { outcome: 'unverified', forged: false }, scheme)
  }
  t.match(behind('http'), { outcome: 'invalid', forged: true }, 'a scheme that is known')
})

t.test('nobody is accused where a proxy shows that it is there, whatever it writes', async (t) => {
  const { verifier } = createVerifier()
  const fields = signedFields({ components: '"@authority" "@scheme" "signature-agent"' })
  const changed = (...more: readonly string[]) =>
    verifier.look({ ...makeRequest([...fields, ...more]), scheme: 'http' })
  t.match(changed(), { outcome: 'invalid', forged: true })
  for (const name of ['Via', 'X-Real-IP', 'X-Forwarded-Proto', 'CF-Connecting-IP', 'Forwarded', 'X-Forwarded-For']) {
    t.match(changed(name, 'x'), { outcome: 'invalid', forged: false }, name)
  }
})

t.test('a target in absolute form is the path that it names', async (t) => {
  const { verifier } = createVerifier()
  const fields = signedFields({ components: '"@authority" "@path" "@query" "@target-uri" "signature-agent"' })
  for (const site of ['https://example.com', 'HTTPS://EXAMPLE.COM:443']) {
    t.match(verifier.look({ ...makeRequest(fields), target: `${site}/path?q=1` }), { outcome: 'verified' }, site)
  }
  const elsewhere = { ...makeRequest(fields), target: 'https://example.com/other?q=1' }
  t.match(verifier.look(elsewhere), { outcome: 'invalid', forged: true })
  const bare = ['Signature-Input', 's=("@path" "@query" "@request-target")', 'Signature', 's=:AA==:']
  t.match(
    buildBase(bare, { ...makeRequest(bare), target: 'http://example.com?a' }),
    '"@path": /\n"@query": ?a\n"@request-target": http://example.com?a\n',
  )
})

function buildBase(fields: readonly string[], request: SignedRequest): string | undefined {
  const read = readSignatures(fields)
  if (!('signatures' in read)) throw new TypeError(read.fault)
  return signatureBase(read.signatures[0] as SentSignature, request)
}

/** A request that counts how often its members are read. */
function countingRequest(request: SignedRequest) {
  const reads = { fields: 0, target: 0 }
  const counting: SignedRequest = {
    ...request,
    get fields() {
      reads.fields++
      return request.fields
    },
    get target() {
      reads.target++
      return request.target
    },
  }
  return { counting, reads }
}

t.test('a request is read once, however many parts of it a signature covers', async (t) => {
  const names = Array.from({ length: 250 }, (_, at) => `n${at}`)
  const parameters = names.map((name) => `"@query-param";name="${name}"`)
  const members = names.map((name) => `"x";key="${name}"`)
  for (const [what, components] of Object.entries({ parameters, members })) {
    const fields = ['Signature-Input', `s=(${components.join(' ')})`, 'Signature', 's=:AA==:', 'X', names.join(', ')]
    const { counting, reads } = countingRequest({ ...makeRequest(fields), target: `/?${names.join('&')}` })
    t.equal(buildBase(fields, counting)?.split('\n').length, names.length + 1, what)
    t.ok(reads.fields + reads.target <= 4, `${what}: ${JSON.stringify(reads)}`)
  }
})

t.test('a signature of more components than any agent covers is not looked at', async (t) => {
  const { verifier } = createVerifier()
  const outcome = (count: number) => {
    const names = Array.from({ length: count }, (_, at) => `"@query-param";name="n${at}"`)
    const target = `/?${names.map((_, at) => `n${at}`).join('&')}`
    const fields = signedFields({ components: ['"@authority"', '"signature-agent"', ...names].join(' '), target })
    return verifier.look({ ...makeRequest(fields), target })
  }
  t.match(outcome(MAX_COMPONENTS - 2), { outcome: 'verified' })
  t.match(outcome(MAX_COMPONENTS - 1), { outcome: 'invalid', forged: false, detail: /more than 64 components/ })
})

t.test('a nonce is remembered in a few letters, however long it is', async (t) => {
  const ids: string[] = []
  const replay = {
    see(_agent: unknown, id: string) {
      ids.push(id)
      return ids.indexOf(id) === ids.length - 1 ? ('new' as const) : ('seen' as const)
    },
  }
  const { verifier } = createVerifier({ replay })
  const long = signedFields({ nonce: 'n'.repeat(7_000) })
  t.match(verifier.look(makeRequest(long)), { outcome: 'verified', replay: 'checked' })
  t.match(verifier.look(makeRequest(long)), { outcome: 'invalid', detail: /used before/ })
  t.match(verifier.look(makeRequest(signedFields({ nonce: `${'n'.repeat(6_999)}m` }))), { outcome: 'verified' })
  t.ok(
    ids.every(({ length }) => length <= 64),
    `${ids.map(({ length }) => length)}`,
  )
})
