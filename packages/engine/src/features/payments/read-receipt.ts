import { isNamed, type Offer, type Receipt } from '@sallyport/core'

/** Fields of a receipt: x402 v2 (transports-v2/http.md), and pay per crawl. */
const FIELDS = [
  ['payment-signature', 'x402'],
  ['crawler-exact-price', 'exact'],
  ['crawler-max-price', 'max'],
] as const

/** A receipt as it came, and why it cannot be one. */
export type ReadReceipt = Receipt & { readonly fault?: string | undefined }

/** Reads the receipt of a request from its fields (name, value, name, value …); `undefined` where none came. */
export function readReceipt(fields: readonly string[], offer: Offer, isProven: boolean): ReadReceipt | undefined {
  const found: Receipt[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    for (const [name, form] of FIELDS)
      if (isNamed(fields[at] as string, name)) found.push({ form, text: (fields[at + 1] as string).trim() })
  }
  const [receipt] = found
  if (receipt === undefined) return undefined
  const fault = found.length > 1 ? 'the request has several receipts' : findFault(receipt, offer, isProven)
  return { ...receipt, fault }
}

/** Anybody could promise in the name of a crawler: only a proven one is billed. */
function findFault({ form, text }: Receipt, { price, x402 }: Offer, isProven: boolean): string | undefined {
  if (form === 'x402') {
    if (x402 === undefined) return 'x402 is not offered'
    return /^[A-Za-z0-9+/_-]+=*$/.test(text) ? undefined : 'the receipt is not base64'
  }
  if (!isProven) return 'the crawler that promises payment is not verified'
  const [currency, amount] = price.split(' ')
  const [, promised, sum] = /^([A-Z]{3}) (\d{1,9}(?:\.\d{1,8})?)$/.exec(text) ?? []
  if (promised === undefined) return 'the promise is not a price such as USD 0.01'
  const isEnough = form === 'exact' ? Number(sum) === Number(amount) : Number(sum) >= Number(amount)
  return promised === currency && isEnough ? undefined : `the price is ${price}`
}
