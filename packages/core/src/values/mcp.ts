/** Describes one call that an MCP client makes: a request or a notification of JSON-RPC, as `tools/call`. */
export interface McpCall {
  readonly method: string
  /** Names the tool, the prompt, the URI of the resource or the id of the task; absent where the call is about none. */
  readonly name?: string | undefined
}

/** Says why the calls of a request cannot be checked, as the response has it: status of HTTP and code of JSON-RPC. */
export interface McpFault {
  readonly status: 400 | 408 | 413 | 415
  readonly code: number
  readonly message: string
}

export interface McpRequest {
  /** Keeps the order of a batch; empty where there is only a response of the client, or a fault. */
  readonly calls: readonly McpCall[]
  /** Has the ids of calls that wait for an answer. */
  readonly ids: readonly (string | number)[]
  readonly isBatch: boolean
  readonly fault?: McpFault | undefined
}
