/** A way to pay that x402 v2 describes (section 5.1): the scheme `exact` on one network. */
export interface X402Terms {
  /** Names the network by CAIP-2, as `eip155:8453`. */
  readonly network: string
  /** Holds the address of the token. */
  readonly asset: string
  /** Counts the smallest units of the token, in digits. */
  readonly amount: string
  readonly payTo: string
  /** What the network's scheme needs besides, as the name and the version of the token. */
  readonly extra?: Readonly<Record<string, string>> | undefined
}

/** Sets the terms on which a rule offers the requested resource. */
export interface Offer {
  /** Currency and amount, as `crawler-price` has them: `USD 0.01`. */
  readonly price: string
  /** Holds the URL of the licence that the payment buys. */
  readonly licence?: string | undefined
  /** Lists ways to pay by x402; without it the client asks the site how. */
  readonly x402?: readonly X402Terms[] | undefined
}

/**
 * A client promises to pay by such a receipt. `x402`: the payload of `PAYMENT-SIGNATURE`, in base64. `exact` and `max`: a proven crawler
 * promises a price by `crawler-exact-price` or `crawler-max-price`, and is billed by its operator's account.
 */
export interface Receipt {
  readonly form: 'x402' | 'exact' | 'max'
  readonly text: string
}

/** A receipt came with this request. */
export interface PaidRequest {
  readonly id: string
  readonly client: string
  readonly method: string
  readonly url: string
  readonly rule: string
  /** Names the crawler or agent; `proven` says whether a check or a signature proves it. */
  readonly crawler?:
    | { readonly name: string; readonly operator?: string | undefined; readonly proven: boolean }
    | undefined
}

/** Answers a receipt. `receipt` names the payment in logs and records: 1 to 128 characters of ASCII without spaces. */
export type PaymentAnswer =
  | {
      readonly accepted: true
      readonly receipt: string
      /** x402 settles with this value, which the client gets as `PAYMENT-RESPONSE`. */
      readonly settlement?: object | undefined
    }
  | { readonly accepted: false; readonly reason: string }

/**
 * Accepts payments. It refuses a spent receipt, and answers a repeated call about one receipt and request alike: a client repeats a request
 * whose response came too late.
 */
export interface PaymentProvider {
  accept(receipt: Receipt, offer: Offer, request: PaidRequest): Promise<PaymentAnswer>
}

/**
 * Outcome of an offer. `offered`: no receipt came. `bounded`: too many receipts of the client were refused. `unanswered`: the port failed.
 */
export type PaymentOutcome = 'offered' | 'paid' | 'refused' | 'bounded' | 'unanswered'

export interface PaymentStep {
  readonly outcome: PaymentOutcome
  readonly rule: string
  readonly offer: Offer
  readonly receipt?: string | undefined
  readonly settlement?: object | undefined
  readonly reason?: string | undefined
}
