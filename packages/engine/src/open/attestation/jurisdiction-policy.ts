import { readFileSync } from 'node:fs'
import { type JurisdictionPolicy, parseJurisdictionPolicy, SallyportError } from '@sallyport/core'
import { JURISDICTIONS } from '@sallyport/data/jurisdictions'
import { parseDocument } from 'yaml'

/** The jurisdiction policy in the user's file, YAML or JSON; without one the built-in policy. Throws `invalid_policy`. */
export function readJurisdictionPolicy(file: string | undefined): JurisdictionPolicy {
  if (file === undefined) return parseJurisdictionPolicy(JURISDICTIONS)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new SallyportError('invalid_policy', `provenance.policy: cannot read ${file}: ${reason}`)
  }
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault !== undefined) throw new SallyportError('invalid_policy', `provenance.policy: ${file}: ${fault.message}`)
  return parseJurisdictionPolicy(document.toJS())
}
