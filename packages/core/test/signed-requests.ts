import { constants, createPrivateKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto'
import { createKeyDirectories, type KeyDirectoriesOptions } from '../src/agent/signature/directory.ts'
import { readKey } from '../src/agent/signature/key.ts'
import { readSignatures, type SignedRequest } from '../src/agent/signature/message.ts'
import { signatureBase } from '../src/agent/signature/signature-base.ts'
import { createSignatureVerifier, type SignatureVerifierOptions } from '../src/agent/signature/verifier.ts'
import { createReplayMemory, findKeySource } from '../src/index.ts'
import { createFakeClock } from '../src/testing/fakes.ts'
import { CATALOGUE } from './agents.ts'

/** RFC 9421, B.1.4. */
export const TEST_ED25519: JsonWebKey = {
  kty: 'OKP',
  crv: 'Ed25519',
  d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU',
  x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
}
export const KEY_ID = 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U'

export const NOW_S = Date.parse('2026-11-21T12:00:00Z') / 1000
export const AGENT = 'https://chatgpt.com'

export interface Signing {
  readonly components?: string | undefined
  readonly label?: string | undefined
  readonly created?: number | undefined
  readonly expires?: number | undefined
  readonly keyId?: string | undefined
  readonly tag?: string | undefined
  readonly alg?: string | undefined
  readonly nonce?: string | undefined
  readonly agent?: string | undefined
  readonly host?: string | undefined
  readonly key?: JsonWebKey | undefined
  readonly target?: string | undefined
}

/** Raw fields of a GET of https://example.com/path, signed with these parameters; the base is the verifier's own. */
export function signedFields(signing: Signing = {}): readonly string[] {
  const { components = '"@authority" "signature-agent"', label = 'sig1', tag = 'web-bot-auth', nonce } = signing
  const created = 'created' in signing ? signing.created : NOW_S - 10
  const expires = 'expires' in signing ? signing.expires : NOW_S + 300
  const keyId = 'keyId' in signing ? signing.keyId : (readKey(signing.key ?? TEST_ED25519)?.id ?? '')
  const parameters = [
    created === undefined ? '' : `;created=${created}`,
    keyId === undefined ? '' : `;keyid="${keyId}"`,
    signing.alg === undefined ? '' : `;alg="${signing.alg}"`,
    expires === undefined ? '' : `;expires=${expires}`,
    nonce === undefined ? '' : `;nonce="${nonce}"`,
    `;tag="${tag}"`,
  ].join('')
  const { host = 'example.com', agent = `"${AGENT}"` } = signing
  const input = `${label}=(${components})${parameters}`
  const unsigned = ['Host', host, 'Signature-Agent', agent, 'Signature-Input', input]
  const placeholder = [...unsigned, 'Signature', `${label}=:AA==:`]
  const request = { ...makeRequest(placeholder), ...(signing.target && { target: signing.target }) }
  const base = buildBase(placeholder, request) ?? 'nothing'
  const made = signBase(base, signing.key ?? TEST_ED25519)
  return [...unsigned, 'Signature', `${label}=:${made.toString('base64')}:`]
}

/** Builds the base of the first signature of some fields. */
export function buildBase(fields: readonly string[], request: SignedRequest): string | undefined {
  const { signatures, fault } = readSignatures(fields)
  if (signatures[0] === undefined) throw new TypeError(fault)
  return signatureBase(signatures[0], request)
}

export function makeRequest(fields: readonly string[]): SignedRequest {
  return { fields, method: 'GET', target: '/path?q=1', scheme: 'https', trusted: false }
}

function signBase(base: string, jwk: JsonWebKey): Buffer {
  const key: KeyObject = createPrivateKey({ key: jwk, format: 'jwk' })
  const data = Buffer.from(base)
  if (jwk.kty === 'RSA') return sign('sha512', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 })
  if (jwk.kty === 'EC') return sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' })
  return sign(null, data, key)
}

/** A verifier that knows the test key as ChatGPT's. */
export function createVerifier(
  options: Partial<SignatureVerifierOptions> = {},
  keys: readonly JsonWebKey[] = [TEST_ED25519],
  directoryOptions: Partial<KeyDirectoriesOptions> = {},
) {
  const clock = createFakeClock('2026-11-21T12:00:00Z')
  const directories = createKeyDirectories({ clock, testKeys: true, ...directoryOptions })
  const source = findKeySource({ uri: AGENT, type: 'directory' }, new Set())
  if (source !== undefined && keys.length > 0) directories.put(source, { keys })
  const ports = { clock, catalogue: CATALOGUE, directories, replay: createReplayMemory() }
  const verifier = createSignatureVerifier({ ...ports, ...options })
  return { clock, directories, verifier }
}
