import { Socket } from 'node:net'

/**
 * Opens a connection to `host:port` through a proxy that the operator names (CONNECT, RFC 9110 section 9.3.6). The proxy
 * resolves the name. Its URL is `http:` or `https:`, with `user:password@` where it asks for them; it may be inside,
 * and no error repeats it. Rejects with the reason.
 */
export async function tunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Socket> {
  const { Client } = await import('undici')
  // The connection leaves the client when it becomes a tunnel; until then the signal ends it.
  const client = new Client(proxy.origin, { headersTimeout: 0, connect: { timeout: 0 } })
  const end = () => void client.destroy().catch(() => undefined)
  signal.addEventListener('abort', end, { once: true })
  try {
    const { statusCode, socket } = await client.connect({ path: target, headers: buildHeaders(proxy, target), signal })
    socket.on('error', () => undefined)
    if (statusCode === 200 && socket instanceof Socket) return socket
    socket.destroy()
    throw new Error(`the proxy responded with status ${statusCode}`)
  } catch (error) {
    end()
    if (signal.aborted) throw signal.reason
    throw error instanceof Error && 'code' in error ? new Error(`the proxy cannot be reached: ${error.code}`) : error
  } finally {
    signal.removeEventListener('abort', end)
  }
}

function buildHeaders({ username, password }: URL, target: string): Record<string, string> {
  if (username === '') return { host: target }
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { host: target, 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
}
