import { type Asked, answer, HASH } from './question.ts'

/* Answers another worker, which waits meanwhile. */
addEventListener('message', ({ data }: MessageEvent<{ port: MessagePort; memory: SharedArrayBuffer }>) => {
  const { port, memory } = data
  port.onmessage = ({ data: asked }: MessageEvent<Asked>) => {
    answerOf(asked).then(
      (bytes) => answer(memory, bytes),
      () => answer(memory, undefined),
    )
  }
  postMessage('ready')
})

async function answerOf({ question, parts }: Asked): Promise<Uint8Array> {
  const [first, second, third] = parts.map((part) => new Uint8Array(part))
  if (question === HASH) return new Uint8Array(await crypto.subtle.digest('SHA-256', first ?? new Uint8Array()))
  const key = await crypto.subtle.importKey('raw', first ?? new Uint8Array(), 'Ed25519', false, ['verify'])
  const isGood = await crypto.subtle.verify('Ed25519', key, second ?? new Uint8Array(), third ?? new Uint8Array())
  return Uint8Array.of(isGood ? 1 : 0)
}
