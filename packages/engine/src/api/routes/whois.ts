import { registrableDomain, SallyportError } from '@sallyport/core'
import { defineRoute } from '../route.ts'
import { WhoisResponse } from '../schemas/lookup.ts'
import { DomainParams } from '../schemas/words.ts'
import { nameAsker } from './asker.ts'

export const whois = defineRoute('GET', '/v1/whois/{domain}', {
  example: { path: '/v1/whois/example.com' },
  access: { kind: 'key', metered: true },
  operationId: 'whois',
  tag: 'WHOIS',
  summary: 'Look up the registration of a domain.',
  description:
    'For a name below a registered domain, the response describes that domain. An unregistered name fails with 400 ' +
    '`domain_not_found`, a reserved one with 400 `domain_reserved`. If no registry responds in time, the status is 503.',
  errors: [400, 401, 429, 500],
  params: DomainParams,
  response: WhoisResponse,
  answer: 'The registration. Fields that the registry does not publish are omitted.',
  async handle({ params }, context) {
    const { services } = context
    const target = registrableDomain(params.domain)
    if (target === undefined) throw new SallyportError('invalid_domain')
    const asker = nameAsker(context)
    const answer = await services.nameTurns.run(asker, () => services.whois.find(target, undefined, asker))
    switch (answer.state) {
      case 'registered':
        return { domain: answer.domain, ...answer.record }
      case 'free':
        throw new SallyportError('domain_not_found')
      case 'reserved':
        throw new SallyportError('domain_reserved')
      case 'failed':
        throw new SallyportError('service_unavailable', 'No registry of this domain responded.')
    }
  },
})
