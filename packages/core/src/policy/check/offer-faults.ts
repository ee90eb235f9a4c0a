import type { Fault } from '../language/fault.ts'
import type { Rule } from '../policy.ts'

const PRICE = /^[A-Z]{3} (?=[\d.]*[1-9])\d{1,9}(?:\.\d{1,8})?$/
const URL = /^https?:\/\/[!-;=?-~]{1,500}$/
const NETWORK = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/
const AMOUNT = /^[1-9]\d{0,77}$/

export function offerFaults({ action, offer }: Rule): readonly Fault[] {
  if (action !== 'offer') {
    return offer === undefined ? [] : [{ path: ['offer'], message: 'applies only to the action offer' }]
  }
  if (offer === undefined) {
    return [{ path: ['offer'], message: 'a rule with the action offer needs a price. Add offer: { price: USD 0.01 }' }]
  }
  const { price, licence, x402 } = offer
  const faults = [...check(price, PRICE, 'a price such as USD 0.01', 'price')]
  if (licence !== undefined) faults.push(...check(licence, URL, 'an http URL', 'licence'))
  if (x402?.length === 0) faults.push({ path: ['offer', 'x402'], message: 'the list of payments is empty' })
  for (const [at, { network, amount }] of (x402 ?? []).entries()) {
    faults.push(...check(network, NETWORK, 'a CAIP-2 network such as eip155:8453', 'x402', at, 'network'))
    faults.push(...check(amount, AMOUNT, 'an amount in the smallest unit, in digits', 'x402', at, 'amount'))
  }
  return faults
}

function check(value: string, form: RegExp, wanted: string, ...path: Fault['path']): readonly Fault[] {
  if (form.test(value)) return []
  return [{ path: ['offer', ...path], message: `${JSON.stringify(value)} is not ${wanted}` }]
}
