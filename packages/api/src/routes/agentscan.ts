import type { AgentVerdict, Decision, ToldOf } from '@sallyport/core'
import { defineRoute } from '../route.ts'
import { AgentscanCheckRequest, AgentscanCheckResponse } from '../schemas/agentscan-check.ts'
import { addressOf } from './address.ts'

export const agentscanCheck = defineRoute({
  method: 'POST',
  path: '/v1/agentscan/check',
  access: { kind: 'key', metered: true },
  operationId: 'agentscanCheck',
  tag: 'Agents',
  summary: 'Who an inbound request comes from, and what to do about it.',
  description:
    '`class` is `human`, `ai_agent`, `verified_crawler`, `impostor`, or `unverified_bot` for a program that claims ' +
    'nothing that can be proved. `action` is what the configured policy decides of a GET of `/`, also in monitor mode. ' +
    'The verdict is for the caller alone: nothing of the request is kept.',
  errors: [400, 401, 429, 500],
  body: AgentscanCheckRequest,
  response: AgentscanCheckResponse,
  answer: 'The verdict and the signals behind it.',
  async handle({ body }, { services }) {
    return responseOf(await services.check(addressOf(body.ip), toldOf(body)), body)
  },
})

function toldOf({ user_agent, headers, ja4, headless_flags }: AgentscanCheckRequest): ToldOf {
  const told = Object.entries(headers ?? {})
  // Of the user agent the member of its own counts: it is what the caller read out on purpose.
  const fields = user_agent === undefined ? told : [['User-Agent', user_agent], ...told.filter(isNotUserAgent)]
  return {
    fields: fields.flat(),
    headersKnown: headers !== undefined,
    ...(ja4 !== undefined && { ja4 }),
    ...(headless_flags !== undefined && { headlessFlags: namesOf(headless_flags) }),
  }
}

function isNotUserAgent([name]: readonly [string, string]): boolean {
  return name.toLowerCase() !== 'user-agent'
}

function namesOf(flags: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(flags).flatMap(([name, seen]) => (seen ? [name] : []))
}

function responseOf({ action, inspection }: Decision, body: AgentscanCheckRequest): AgentscanCheckResponse {
  const { agent, network } = inspection
  const { identity } = agent
  return {
    class: agent.class,
    confidence: agent.confidence,
    action,
    signals: {
      network_origin: network.verdict.classification,
      anonymized: network.verdict.anonymized,
      headless: agent.headless,
      headless_flags: body.headless_flags ?? null,
      header_consistency: agent.headerConsistency ?? null,
      ai_crawler: agent.ai !== undefined,
      ai_ident: agent.ai?.name ?? null,
      ai_vendor: agent.ai?.vendor ?? null,
      allowlist_type: identity?.type ?? null,
      allowlist_verified: identity?.verified ?? false,
      ja4: body.ja4 ?? null,
      reasons: reasonsOf(agent),
    },
  }
}

function reasonsOf({ reasons }: AgentVerdict) {
  return reasons.map(({ id, weight, text }) => ({ id, ...(weight !== undefined && { weight }), text }))
}
