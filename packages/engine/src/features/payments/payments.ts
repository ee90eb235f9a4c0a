import {
  clientKey,
  type Decision,
  errorText,
  type Fetch,
  fetchText,
  isRecord,
  type Offer,
  type PaidRequest,
  type PaymentAnswer,
  type PaymentProvider,
  type PaymentStep,
  type Receipt,
  readRule,
} from '@sallyport/core'
import { LRUCache } from 'lru-cache'
import { type FeatureConfig, withTimeout } from '#service'
import { identifyCrawler } from '#tally'
import type { keys } from './keys.ts'
import { readReceipt } from './read-receipt.ts'

/** A request that a rule offers its answer for a price. */
export interface OfferedRequest extends Pick<PaidRequest, 'id' | 'method' | 'url'> {
  readonly fields: readonly string[]
}

/** Takes the receipts of clients. */
export interface Payments {
  /** Takes the receipt of a request whose decision offers; at once where none came. Never rejects, and waits `payment.timeoutMs` at most. */
  take(decision: Decision, request: OfferedRequest): PaymentStep | Promise<PaymentStep>
}

export interface PaymentPorts {
  /** Stands in place of `payment.url`, where a host has its own port. */
  readonly provider?: PaymentProvider | undefined
  readonly fetch: Fetch
  readonly onFault: (error: unknown) => void
}

/** Receipts under way: of all clients, and of one. A port that hangs keeps its place. */
const MAX_ASKED = 64
const MAX_ASKED_OF_CLIENT = 4
/** Receipts of a client that the port refuses in a minute; the next ones of that minute are not shown to it. */
const MAX_REFUSED = 5
const REFUSED_MS = 60_000
const MAX_CLIENTS = 16_384
const MAX_REASON = 200
const MAX_BYTES = 65_536

interface Client {
  asked: number
  refused: number
  until: number
}

/** Creates what takes receipts by the configuration in force; without a port every offer stays one. */
export function createPayments(
  config: () => FeatureConfig<typeof keys>,
  { provider: given, fetch, onFault }: PaymentPorts,
): Payments {
  const clients = new LRUCache<string, Client>({ max: MAX_CLIENTS })
  let questions = 0

  function findClient(address: string): Client {
    const { narrow } = clientKey(address)
    const known = clients.get(narrow) ?? { asked: 0, refused: 0, until: 0 }
    if (performance.now() >= known.until) Object.assign(known, { refused: 0, until: performance.now() + REFUSED_MS })
    clients.set(narrow, known)
    return known
  }

  /** Returns the answer of the port; `undefined` for one that failed, came late or has no form that is known. */
  async function ask(port: PaymentProvider, client: Client, question: Question): Promise<PaymentAnswer | undefined> {
    const { timeoutMs } = config().payment
    questions++
    client.asked++
    const answer = new Promise<unknown>((resolve) => resolve(port.accept(...question))).finally(() => {
      questions--
      client.asked--
    })
    try {
      const found = await withTimeout(answer, timeoutMs, () => {
        throw new Error(`no response within ${timeoutMs} ms`)
      })
      if (isAnswer(found)) return found
      throw new Error('the response has an unknown form')
    } catch (error) {
      onFault(new Error(`payment: ${errorText(error)}`))
      return undefined
    }
  }

  return {
    take(decision, { fields, ...request }) {
      const { offer = NO_OFFER } = decision
      const { url, timeoutMs } = config().payment
      const provider = given ?? (url === undefined ? undefined : createEndpoint(url, fetch, timeoutMs))
      const made = { rule: readRule(decision), offer }
      const crawler = identifyCrawler(decision)
      const proven = crawler !== undefined && crawler.proof !== 'claim' && crawler.proof !== 'disproved'
      const read = provider && readReceipt(fields, offer, proven)
      if (provider === undefined || read === undefined) return { ...made, outcome: 'offered' }
      const { fault, ...receipt } = read
      if (fault !== undefined) return { ...made, outcome: 'refused', reason: fault }
      const { address } = decision.inspection.client
      const client = findClient(address)
      if (client.refused >= MAX_REFUSED) return { ...made, outcome: 'bounded', reason: TOO_MANY }
      if (questions >= MAX_ASKED || client.asked >= MAX_ASKED_OF_CLIENT)
        return { ...made, outcome: 'unanswered', reason: 'too many receipts are being verified' }
      const named = crawler && { name: crawler.name, operator: crawler.operator, proven }
      const paid = { ...request, client: address, rule: made.rule, crawler: named }
      return ask(provider, client, [receipt, offer, paid]).then((answer): PaymentStep => {
        if (answer === undefined) return { ...made, outcome: 'unanswered', reason: 'the verifier did not respond' }
        if (answer.accepted) return { ...made, outcome: 'paid', receipt: answer.receipt, settlement: answer.settlement }
        client.refused++
        return { ...made, outcome: 'refused', reason: answer.reason.slice(0, MAX_REASON) }
      })
    },
  }
}

type Question = readonly [Receipt, Offer, PaidRequest]

const NO_OFFER: Offer = { price: '' }
const TOO_MANY = 'too many receipts were rejected. Try again in a minute'

function isAnswer(found: unknown): found is PaymentAnswer {
  if (!isRecord(found)) return false
  const { accepted, receipt, reason, settlement } = found
  if (accepted === false) return typeof reason === 'string'
  const isSettled = settlement === undefined || (typeof settlement === 'object' && settlement !== null)
  return accepted === true && typeof receipt === 'string' && /^[!-~]{1,128}$/.test(receipt) && isSettled
}

/** Creates a port that posts each receipt, with the offer and the request, as JSON to a URL, and reads a `PaymentAnswer` from the answer. */
function createEndpoint(url: string, fetch: Fetch, timeoutMs: number): PaymentProvider {
  return {
    async accept(receipt, offer, request) {
      const body = { type: 'application/json', text: JSON.stringify({ receipt, offer, request }) }
      const answer = await fetchText(fetch, { url, body, maxBytes: MAX_BYTES, timeoutMs })
      if (answer.state === 'failed') throw new Error(answer.reason)
      if (answer.status !== 200) throw new Error(`the status is ${answer.status}`)
      return JSON.parse(answer.body) as PaymentAnswer
    },
  }
}
