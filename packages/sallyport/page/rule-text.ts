/** Writes a policy rule on one line. */
export function ruleFor(action: 'allow' | 'block', match: string, subject: string): string {
  const id = `${action}-${subject.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`.replace(/-$/, '')
  return `- { id: ${id}, match: { ${match} }, action: ${action} }`
}

/** Puts the rule before all other rules of a policy. */
export function withRule(policy: string, rule: string): string {
  if (/^rules:\s*\[\s*\]\s*$/m.test(policy)) return policy.replace(/^rules:.*$/m, `rules:\n  ${rule}`)
  const [, indent = '  '] = /^rules:\s*\n(\s*)-/m.exec(policy) ?? []
  if (/^rules:\s*$/m.test(policy)) return policy.replace(/^rules:\s*$/m, `rules:\n${indent}${rule}`)
  return `${policy.trimEnd()}\nrules:\n  ${rule}\n`
}
