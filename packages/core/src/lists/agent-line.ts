import { isBareExpression, patternFault } from '../policy/language/text-pattern.ts'

/**
 * Returns the patterns that a line of a list means: a text, a name as others escape it, an expression without slashes, or the user agents
 * that a line for robots.txt, nginx, Apache, Caddy or lighttpd refuses. Empty where the line refuses none, or is unreadable.
 */
export function patternsOn(written: string): readonly string[] {
  const line = written
    .replaceAll(/[ \t]+/g, ' ')
    .replace(/^[-*] /, '')
    .replace(/^(["'])(.*)\1[,;]?$/, '$2')
  const { agent, quoted, bare, value } = PROGRAM_LINE.exec(line)?.groups ?? {}
  const map = quoted ?? bare
  if (agent !== undefined) return agent === '*' ? [] : [agent]
  const found = map === undefined ? readCompared(line) : value === '0' ? [] : readExpression(map)
  const patterns = found ?? (OTHER_LINE.test(line) ? [] : isBareExpression(line) ? readExpression(line) : [line])
  return patterns.every((pattern) => patternFault(pattern) === undefined) ? patterns : []
}

/** Matches a line of robots.txt, or of nginx's map. */
const PROGRAM_LINE =
  /^(?:user-agent: {0,9}(?<agent>\S.*)|(?:"~\*?(?<quoted>[^"]+)"|~\*?(?<bare>(?:[^\s"\\]|\\.)+))\s{1,99}"?(?<value>[\w-]{1,40})"?;)$/i

/** Returns the expression that a server compares with user agents; `undefined` where a line compares none. */
function readCompared(line: string): readonly string[] | undefined {
  const start = COMPARES.exec(line)
  if (start === null) return undefined
  const rest = line.slice(start.index + start[0].length)
  const { quoted, bare = '' } = ARGUMENT.exec(rest)?.groups ?? {}
  // nginx closes a condition with this bracket.
  const closed = bare.split(')').length > bare.split('(').length ? bare.slice(0, bare.lastIndexOf(')')) : bare
  return closed.startsWith('!') ? [] : readExpression(quoted ?? closed)
}

const COMPARES =
  /(?:\$http_user_agent ?~\*?|%\{HTTP_USER_AGENT\}|SetEnvIf(?:NoCase)? "?User-Agent"?|BrowserMatch(?:NoCase)?|header_regexp (?:\w{1,40} )?User-Agent|\$HTTP\["user-agent"\] ?=~) ?/i
const ARGUMENT = /^(?:"(?<quoted>(?:[^"\\]|\\.)*)"|(?<bare>(?:\\.|[^\s\\])+))/

/** Matches lines of programs about other matters. */
const OTHER_LINE =
  /^(?:(?:dis)?allow:|crawl-delay:|sitemap:|Rewrite|SetEnvIf|Require |config |[@${}|<])|[{};]$|http[._]user_agent/i

/** Returns the names of an expression that consists of names, or else the expression. */
function readExpression(written: string): readonly string[] {
  const source = written.replace(/^\(\?i\)/, '')
  const bare = source.replaceAll(/\(\?:\\b\)|\\b/g, '').replace(/^\((?:\?:)?([^()?]*)\)$/, '$1')
  const names = bare.split('|')
  if (names.every((name) => NAME.test(name))) return names.map((name) => name.replaceAll(/\\(?=\W)/g, ''))
  return [`/${source}/i`]
}

const NAME = /^[a-z\d](?:[^\\()[\]{}*+?^$|]|\\\W)*$/i
