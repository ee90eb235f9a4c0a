import type { OutgoingHttpHeaders } from 'node:http'
import { VERDICT_NAMES } from '@sallyport/node/internal'

/** An answer of the gate. */
export interface CheckAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: OutgoingHttpHeaders
  readonly body: string
  /** The request may pass; else the answer is the client's. */
  readonly passes: boolean
}

/** Codes of `google.rpc.Status`. */
const CODES = { ok: 0, permissionDenied: 7 }

/** Fields of an answer that are about a connection, which the client has with Envoy. */
const OF_HOP = ['connection', 'content-length', 'keep-alive', 'transfer-encoding']

/**
 * The `CheckResponse` of an answer. The verdict overwrites what a client wrote under its names, and those that have nothing to say are
 * removed; a refusal goes to the client as it is, of any status, because only a call that fails makes Envoy say that we failed (D565).
 */
export function callAnswer({ status, headers, body, passes }: CheckAnswer) {
  if (!passes) {
    const shown = Object.entries(headers).filter(([name]) => !OF_HOP.includes(name))
    return {
      status: { code: CODES.permissionDenied },
      denied: { status: { code: status }, headers: optionsOf(shown, false), body },
    }
  }
  const verdict = VERDICT_NAMES.flatMap((name): readonly Field[] => (headers[name] ? [[name, headers[name]]] : []))
  return {
    status: { code: CODES.ok },
    ok: {
      headers: optionsOf(verdict, false),
      headersToRemove: VERDICT_NAMES.filter((name) => !headers[name]),
      responseHeadersToAdd: optionsOf([['set-cookie', headers['set-cookie']]], true),
    },
  }
}

type Field = readonly [name: string, value: OutgoingHttpHeaders[string]]

/** `append` is always said: without it some versions of Envoy overwrite and others append. */
function optionsOf(fields: readonly Field[], append: boolean) {
  return fields.flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((one) => ({
      header: { key: Buffer.from(name), value: Buffer.from(String(one)) },
      append: { value: append },
    })),
  )
}
