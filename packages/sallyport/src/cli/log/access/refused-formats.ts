import type { AccessFormat } from './format.ts'
import type { Lack } from './reading.ts'

/** Formats of text that never hold what a verdict needs: known by name, so that each says how its program logs more. D648 */
export const REFUSED_FORMATS: readonly AccessFormat[] = [
  // `192.0.2.7, -, 03/20/05, 7:55:20, W3SVC2, SERVER, …`
  refused(
    'iis',
    "IIS's own format, with commas",
    /^[\da-f.:]+, [^,]*, \d\d?\/\d\d?\/\d{2,4}, \d\d?:\d\d:\d\d, /i,
    'userAgent',
    'IIS logs it in the W3C format, with the column cs(User-Agent).',
  ),
  // `[2026-11-21T10:00:00.123Z] "GET / HTTP/1.1" 200 - 0 12 3 2 "192.0.2.7" "curl/8.5.0" "id" "a.example" "10.0.0.2:80"`
  refused(
    'envoy',
    "Envoy's and Istio's text",
    /^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] "[^" ]* [^"]*" \d+ /,
    'address',
    'Envoy has X-Forwarded-For there, which clients write: log JSON with start_time, method, path, user_agent and downstream_remote_address.',
  ),
  // `at=info method=GET path="/" host=a.example request_id=… fwd="192.0.2.7" dyno=web.1 … status=200`
  refused(
    'heroku',
    "Heroku's router",
    /^(?:sock=\S+ )?at=[a-z]+ (?:code=\S+ desc="[^"]*" )?method=/,
    'userAgent',
    "Heroku's router has no place for it: replay the log of the application.",
  ),
  // `1795255200.123    345 192.0.2.7 TCP_MISS/200 1234 GET http://a.example/ - HIER_DIRECT/192.0.2.1 text/html`
  refused(
    'squid',
    "Squid's own",
    /^\d+\.\d{3} +\d+ \S+ [A-Z_]+\/\d{3} \d+ [A-Z]+ /,
    'userAgent',
    'Squid logs it with access_log stdio:/var/log/squid/access.log combined.',
  ),
  // `[pid: 1|app: 0|req: 1/1] 192.0.2.7 () {34 vars in 500 bytes} [Sat Nov 21 10:00:00 2026] GET / => generated 12 bytes …`
  refused(
    'uwsgi',
    "uWSGI's own",
    /^\[pid: \d+\|/,
    'userAgent',
    'uWSGI logs it with log-format = %(addr) - %(user) [%(ltime)] "%(method) %(uri) %(proto)" %(status) %(size) "%(referer)" "%(uagent)".',
  ),
  // `GET /a 200 3.123 ms - 12`, `GET /a 200 12 - 3.1 ms`, `192.0.2.7 - GET /a HTTP/1.1 200 12 - 3.1 ms`
  refused(
    'morgan',
    "morgan's dev, short and tiny",
    /^(?:[\da-f.:]+ \S+ )?[A-Z]+ \S+ (?:HTTP\/[\d.]+ )?(?:\d{3}|-) [\d.-]+ (?:ms - [\d-]+|- [\d.-]+ ms)$/,
    'userAgent',
    "morgan logs it in its format combined: morgan('combined').",
  ),
  // `tls 2.0 2026-11-21T10:00:00 net/name/id listener 192.0.2.7:51341 10.0.0.2:443 5 2 98 246 - …`
  refused(
    'nlb',
    'network load balancers of AWS',
    /^tls \d\.\d \d{4}-\d\d-\d\dT[\d:]+ net\//,
    'request',
    'A network load balancer logs connections, and no request: replay the log of the server behind it.',
  ),
  // `1795255200.123	192.0.2.7	0.001	200	…`
  refused(
    'cloudfront-realtime',
    "CloudFront's in real time",
    /^\d{10}\.\d{3}\t[\da-f.:]+\t/,
    'columns',
    'The log of CloudFront in real time does not name them: put the line #Fields: timestamp c-ip … above it, with cs(User-Agent).',
  ),
  // `INFO:     192.0.2.7:51234 - "GET / HTTP/1.1" 200 OK`
  refused(
    'uvicorn',
    'uvicorn, Hypercorn',
    /^(?:INFO: +)?\S+ - "[A-Z]+ \S* HTTP\/[\d.]+" \d{3}(?: |$)/,
    'time',
    'uvicorn logs neither a time nor the user agent: replay the log of the server in front.',
  ),
]

function refused(name: string, of: string, form: RegExp, lacks: Lack, cure: string): AccessFormat {
  return { name, of, cures: { [lacks]: cure }, open: () => (line) => (form.test(line) ? { lacks } : undefined) }
}
