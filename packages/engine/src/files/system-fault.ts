/**
 * Describes faults of the operating system in words that follow a file's name. Messages of Node add the call, the path again and a code,
 * which readers do not need.
 */
const OF_FILES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'cannot be accessed by this user',
  EPERM: 'cannot be accessed by this user',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: the quota of this user is used up',
  ELOOP: 'is a circular link',
  ENAMETOOLONG: 'has a name that is too long',
}

/** Describes faults of connections, in words that need no name before them. */
const OF_CONNECTIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closes the connection',
  EPIPE: 'it closes the connection',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name cannot be resolved now',
  ETIMEDOUT: 'it does not respond',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
}

/** Returns why a file cannot be read or written, in words that follow its name. */
export function fileReason(error: unknown, what: 'read' | 'written' = 'read'): string {
  const code = errorCode(error)
  if (code === undefined) return `cannot be ${what}`
  return OF_FILES[code] ?? `cannot be ${what} (${code})`
}

/** Describes the fault of a connection; returns `undefined` for an error of another kind. */
export function connectionReason(error: unknown): string | undefined {
  const code = errorCode(error) ?? ''
  // Other codes of OpenSSL begin with its numbers, and end with a file of its source.
  return OF_CONNECTIONS[code] ?? (code.startsWith('ERR_SSL_') ? `the TLS handshake fails (${code})` : undefined)
}

/** Describes a file's fault that an error names, as a sentence without its full stop; returns `undefined` for another kind of error. */
export function systemFault(error: unknown): string | undefined {
  const { path } = (error ?? {}) as NodeJS.ErrnoException
  const reason = OF_FILES[errorCode(error) ?? '']
  return reason === undefined || typeof path !== 'string' ? undefined : `${path} ${reason}`
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
