interface Closable {
  close(): Promise<void> | void
}

/** Opened resources, closed in reverse order: at the end, or where a later opening fails. */
export interface DisposeStack {
  /** Waits for a resource to open, adds it to the stack and returns it. */
  use<Resource extends Closable>(opening: Resource | Promise<Resource>): Promise<Resource>
  /** Closes each resource once, however often it is called. */
  dispose(): Promise<void>
}

export function createDisposeStack(): DisposeStack {
  const resources: Closable[] = []
  return {
    async use(opening) {
      const resource = await opening
      resources.push(resource)
      return resource
    },
    async dispose() {
      for (let last = resources.pop(); last !== undefined; last = resources.pop()) await last.close()
    },
  }
}
