/** Members of `params` name what a call is about, and `Mcp-Name` repeats them (MCP 2026-07-28; tasks by SEP-2663). */
const NAMED = {
  name: ['tools/call', 'prompts/get'],
  uri: ['resources/read', 'resources/subscribe', 'resources/unsubscribe'],
  taskId: ['tasks/get', 'tasks/update', 'tasks/cancel', 'tasks/result'],
} as const

const OTHERS = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'tasks/list',
  'server/discover',
  'subscriptions/listen',
  'completion/complete',
  'logging/setLevel',
  'initialize',
  'ping',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/tasks/status',
] as const

const MEMBERS = new Map<string, string>(
  Object.entries(NAMED).flatMap(([member, methods]) => methods.map((method) => [method, member] as const)),
)

/** Clients send these requests and notifications to servers, in any version of MCP. */
export const MCP_METHODS: readonly string[] = [...MEMBERS.keys(), ...OTHERS]

/** Returns the member of `params` that names what a call is about; `undefined` where calls of the method name nothing. */
export function nameMember(method: string): string | undefined {
  return MEMBERS.get(method)
}
