import { generateKeyPairSync } from 'node:crypto'
import { dirname, join } from 'node:path'
import { createSigner, type Signer } from '@sallyport/core'
import { makeFolder } from '@sallyport/engine/files'
import { readOrMakeSecret } from '#console'
import { requestFields, SIMULATED_AGENTS } from '../requests/simulated-agents.ts'
import type { DemoVisitor } from './visitors.ts'

const NOTE =
  'ChatGPT’s own private key is OpenAI’s alone. This visitor signs with a key that the demo has made, and this demo ' +
  'takes it as one of https://chatgpt.com; no other Sallyport does. The signature is a real one, and it is really verified.'

export type DemoAgent = NonNullable<ReturnType<typeof demoAgent>>

/** Signs as ChatGPT's agent with the demo's own key, because OpenAI alone has the real one. All workers read the key from the dataDir. */
export function demoAgent(dataDir: string) {
  const simulated = SIMULATED_AGENTS.find(({ name }) => name === 'chatgpt-agent')
  const signer = signerIn(join(dataDir, 'demo-agent-key'))
  if (simulated?.signs === undefined || signer === undefined) return undefined
  const visitor: DemoVisitor = {
    id: 'chatgpt',
    kind: 'Crawlers and agents',
    who: 'ChatGPT’s agent, signed',
    // ChatGPT's agent comes from this network; its signature counts, and not its address.
    address: '20.171.206.10',
    paths: ['/articles/gates'],
    note: NOTE,
    sign: (aim) => requestFields(simulated, aim, signer),
  }
  return { visitor, published: [{ agent: simulated.signs.agent, document: signer.directory }] }
}

function signerIn(file: string): Signer | undefined {
  const made = JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  try {
    // The dataDir does not exist yet at the first start.
    makeFolder(dirname(file))
    const text = readOrMakeSecret(file, made)
    return text === undefined ? undefined : createSigner(JSON.parse(text))
  } catch {
    return undefined
  }
}
